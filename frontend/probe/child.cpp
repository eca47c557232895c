// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child's side of a probe: may crash, hang or leak as the plugin likes.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/process_state.hpp"
#include "core/runtime/runtime.hpp"
#include "core/support/error.hpp"
#include "frontend/probe/probe_process.hpp"

namespace tenon {
namespace {

/// False when descriptor 3 is not ours any more.
bool say(const std::string& line) {
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = write(kProbeDescriptor, line.data() + done, line.size() - done);
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

/// Adds two vectors, or, where nothing computes, writes and reads back. Empty if it went well.
std::string selftest(const std::filesystem::path& path, const std::string& id) {
  constexpr int64_t kCount = 100;
  try {
    RuntimeOptions options;
    options.devices = id;
    options.plugins = {path};
    options.disk_cache = false;
    options.use_environment = false;
    options.require_compute = false;
    options.probe = false;
    Runtime runtime(options);
    std::vector<int32_t> a(kCount), b(kCount);
    for (int32_t i = 0; i < kCount; ++i) {
      a[static_cast<size_t>(i)] = 3 * i - 7;
      b[static_cast<size_t>(i)] = 1 << (i % 20);
    }
    if (!runtime.device().capabilities().compute) {
      const BufferRef buffer = runtime.device().allocate(kCount * sizeof(int32_t), "selftest");
      runtime.device().write(*buffer, 0, a.data(), buffer->size());
      runtime.device().read(*buffer, 0, b.data(), buffer->size());
      return a == b ? "" : "memory gave other bytes than were written";
    }
    Builder& build = runtime.builder();
    Graph graph;
    graph.name = "selftest";
    for (const char* name : {"a", "b"})
      graph.params.push_back(build.param(name, DType::kI32, {Expr(kCount)}));
    graph.outputs = {build.binary(Op::ADD, graph.params[0], graph.params[1])};
    graph.output_names = {"sum"};
    std::vector<Array> inputs{Array::zeros(DType::kI32, {kCount}),
                              Array::zeros(DType::kI32, {kCount})};
    std::memcpy(inputs[0].bytes.data(), a.data(), inputs[0].bytes.size());
    std::memcpy(inputs[1].bytes.data(), b.data(), inputs[1].bytes.size());
    const std::vector<Array> got = runtime.run(graph, inputs, {}, "");
    const std::vector<Array> expected = evaluate(graph, inputs);
    return got.at(0).bytes == expected.at(0).bytes ? "" : "a+b gave a wrong sum";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

ProbeResult probe_here(const std::filesystem::path& path, bool with_selftest,
                       const std::function<void(const std::string&)>& at) {
  ProbeResult result;
  const ProcessState before = ProcessState::now();
  std::string stage;
  const auto enter = [&](const std::string& next) {
    if (!stage.empty()) {
      const std::string changed = difference(before, ProcessState::now());
      if (!changed.empty())
        fail(ErrorKind::kEnvironment, "changed the process {}: {}", stage, changed);
    }
    stage = next;
    at(stage);
  };
  try {
    enter("while it was loaded");
    const PluginCandidate candidate{path, backend_of_file(path), "the API"};
    const auto library = PluginLibrary::load(candidate);
    result.abi = library->table().abi_version;
    result.priority = library->table().priority;
    result.version = library->table().version;
    enter("in device_enumerate");
    const std::vector<tn_device_info> infos = library->enumerate(result.reason);
    for (size_t i = 0; i < infos.size(); ++i) {
      ProbedDevice device;
      device.id = fmt::format("{}:{}", candidate.backend, i);
      device.kind = kind_name(infos[i].kind);
      device.name = fixed_string(infos[i].name);
      device.uuid = uuid_text(infos[i].uuid);
      device.driver = fixed_string(infos[i].driver);
      device.target = fixed_string(infos[i].target);
      if (with_selftest) {
        enter(fmt::format("in the self-test of {}", device.id));
        device.reason = selftest(path, device.id);
        device.selftest_ok = device.reason.empty();
      }
      result.devices.push_back(std::move(device));
    }
    enter("when the program ended");
    if (!result.devices.empty()) result.reason.clear();
    result.status = ProbeResult::Status::kOk;
  } catch (const std::exception& error) {
    result.status = ProbeResult::Status::kRejected;
    result.reason = error.what();
    const std::string who = fmt::format("[plugin] {}: ", path.string());  // the caller says it
    if (result.reason.starts_with(who)) result.reason.erase(0, who.size());
    result.devices.clear();
  }
  return result;
}

int probe_child(const std::filesystem::path& path, bool with_selftest) {
  ProcessState::make_plain();
  const auto at = [](const std::string& stage) { say("at " + stage + "\n"); };
  if (!say("result " + probe_to_json(probe_here(path, with_selftest, at)) + "\n"))
    return kProbeMuted;
  // Stays in the C library's buffer, as what a program printed last: written by exit() when all
  // destructors and handlers have returned.
  FILE* last = fdopen(kProbeDescriptor, "w");
  if (!last || std::setvbuf(last, nullptr, _IOFBF, BUFSIZ) != 0 || std::fputs("left\n", last) < 0)
    return kProbeMuted;
  return kProbeLeft;
}

}  // namespace tenon
