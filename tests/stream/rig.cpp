// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/stream/rig.hpp"

#include <catch2/catch_test_macros.hpp>

#include "sdk/program/builder.hpp"
#include "tests/sdk/commands.hpp"

namespace tenon::sdk {
namespace {

tn_timeline* handle(Timeline& timeline) { return reinterpret_cast<tn_timeline*>(&timeline); }

}  // namespace

Rig::Rig() : backend_(std::make_unique<StreamBackend>(double_platform(), "1")) {}

Rig::~Rig() = default;

StreamDevice& Rig::device(uint32_t ordinal) {
  std::string reason;
  const auto infos = backend_->enumerate(reason);
  if (infos.empty()) throw Failure(TN_ERROR_NOT_FOUND, reason);
  // The buses are numbered the other way round.
  Options none("");
  devices_.push_back(backend_->open(static_cast<uint32_t>(infos.size()) - 1 - ordinal, none));
  auto& device = static_cast<StreamDevice&>(*devices_.back());
  REQUIRE(device.context()->device() == ordinal);
  return device;
}

void Rig::check() {
  close();
  INFO(Double::violations() << Double::leftovers());
  CHECK(Double::violations().empty());
  CHECK(Double::leftovers().empty());
  CHECK(Double::contexts() == contexts_);
}

Program add_program(uint64_t count, int32_t add, const std::string& name) {
  ProgramBuilder b(name);
  const auto in = b.buffer("in", TN_DTYPE_I32, TN_ACCESS_READ, count);
  const auto out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE, count);
  const auto zero = b.constant(TN_DTYPE_I64, 0), one = b.constant(TN_DTYPE_I64, 1);
  const auto end = b.constant(TN_DTYPE_I64, count);
  const auto by = b.constant(TN_DTYPE_I32, static_cast<uint32_t>(add));
  const auto i = b.begin_loop(zero, end, one);
  const auto x = b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {in, i});
  const auto y = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {x, by});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i, y});
  b.end();
  return b.finish();
}

std::unique_ptr<Executable> compiled(Rig& rig, StreamDevice& device, const Program& program) {
  tn_compile_report report = TN_INIT(tn_compile_report);
  Target target;
  target.device = &device;
  target.properties = &device.properties();
  return rig.backend().compile(target, program.view(), report);
}

Work& Work::copy(Memory& to, uint64_t to_offset, Memory& from, uint64_t from_offset,
                 uint64_t size) {
  commands_.push_back(copy_command(to, to_offset, from, from_offset, size));
  return *this;
}

Work& Work::fill(Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
                 uint32_t pattern_size) {
  commands_.push_back(fill_command(to, offset, size, pattern, pattern_size));
  return *this;
}

Work& Work::launch(Executable& executable, Memory& in, Memory& out) {
  auto& arguments = arguments_.emplace_back(new tn_argument[2]());
  Memory* const memories[] = {&in, &out};
  for (int i = 0; i < 2; ++i)
    arguments[i] = buffer_argument(handle_of(*memories[i]), 0, memories[i]->size());
  commands_.push_back(launch_command(handle_of(executable), {}, {}, {arguments.get(), 2}));
  return *this;
}

Work& Work::wait(Timeline& timeline, uint64_t value) {
  waits_.push_back({handle(timeline), value});
  return *this;
}

Work& Work::signal(Timeline& timeline, uint64_t value) {
  signals_.push_back({handle(timeline), value});
  return *this;
}

tn_submission Work::header() const { return submission_of(commands_, waits_, signals_); }

void Work::submit(StreamDevice& device) const {
  const tn_submission s = header();
  device.submit(Submission(&s));
}

uint64_t Work::run_timed(StreamDevice& device) const { return device.run_timed(header()); }

std::unique_ptr<StreamGraph> Work::record(StreamDevice& device) const {
  const tn_submission s = header();
  return device.record(Submission(&s));
}

void Work::launch_graph(const StreamGraph& graph) const {
  const tn_submission s = header();
  graph.device().launch(graph, Submission(&s));
}

}  // namespace tenon::sdk
