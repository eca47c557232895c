// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <regex>
#include <thread>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon::bench {
namespace {

std::function<bool(const std::string&)> finds(const std::string& expression) {
  try {
    return [only = std::regex(expression)](const std::string& name) {
      return std::regex_search(name, only);
    };
  } catch (const std::regex_error& error) {
    fail(ErrorKind::kInvalid, "[--only] expected a regular expression, got \"{}\": {}", expression,
         error.what());
  }
}

}  // namespace

Suite::Suite(Report& report, const std::string& only, double seconds)
    : report_(report), only_(finds(only)), seconds_(seconds) {}

bool Suite::wanted(const std::string& name) {
  if (!only_(name)) return false;
  if (begin_ == 0) begin_ = now();
  const double passed = now() - begin_;
  if (seconds_ == 0 || passed <= seconds_ || report_.rows.empty()) return true;
  report_.not_run.push_back(name);
  return false;
}

int Suite::most_threads() const {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 2u));
}

void Suite::add(Row row) {
  fmt::print(stderr, "{}: {:.2f} {}\n", row.name, row.ours, row.unit);
  report_.rows.push_back(std::move(row));
}

Runtime& Suite::runtime(int threads) { return runtime_of(context(threads)); }

Context& Suite::context(int threads) {
  std::unique_ptr<Context>& context = contexts_[threads];
  if (!context) {
    ContextOptions options;
    options.devices = fmt::format("cpu@threads={}", threads);
    options.disk_cache = false;
    context = std::make_unique<Context>(options);
  }
  return *context;
}

std::vector<float> random_floats(size_t count, uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(random() % 65536) / 32768.0f - 1;
  return out;
}

void write_floats(const std::string& file, const std::vector<float>& values) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

BufferRef to_device(Runtime& runtime, const std::vector<float>& values) {
  const uint64_t bytes = values.size() * sizeof(float);
  BufferRef out = runtime.device().allocate(bytes, "benchmark input");
  runtime.device().write(*out, 0, values.data(), bytes);
  return out;
}

std::vector<float> to_host(const BufferRef& buffer, size_t count) {
  std::vector<float> out(count);
  buffer->device().read(*buffer, 0, out.data(), count * sizeof(float));
  return out;
}

Graph make_graph(const std::string& name, std::vector<NodeRef> params,
                 std::vector<NodeRef> outputs) {
  Graph out;
  out.name = name;
  out.params = std::move(params);
  out.output_names.resize(outputs.size());
  out.outputs = std::move(outputs);
  return out;
}

std::function<void()> runner(Runtime& runtime, const Graph& graph,
                             const std::vector<BufferRef>& inputs) {
  return [&runtime, graph, inputs] {
    runtime.run(graph, inputs);
    runtime.device().synchronize();
  };
}

Row against_bar(std::string name, const Timing& timing, double scale, std::string unit,
                double bar) {
  Row row;
  row.name = std::move(name);
  row.ours = timing.seconds * scale;
  row.peer = bar;
  row.peer_name = fmt::format("the bar, {} {}", bar, unit);
  row.unit = std::move(unit);
  row.ratio = ratio_of(row.ours, row.peer, true);
  row.spread = timing.spread;
  return row;
}

}  // namespace tenon::bench
