// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the benchmarks share: contexts by number of threads, the limits, the rows found so far.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/runtime.hpp"
#include "tenon/context.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/report.hpp"

namespace tenon::bench {

class PeerProcess;

class Suite {
 public:
  /// So many seconds after the first row no other is begun; 0: all are. Throws kInvalid where
  /// `only` is no regular expression.
  Suite(Report& report, const std::string& only, double seconds = 0);

  /// By the --only expression, and by the time that is left; before anything is prepared.
  bool wanted(const std::string& name);
  void add(Row row);
  const Limits& limits() const { return report_.limits; }
  int most_threads() const;

  /// Of the CPU plugin with so many threads; without a disk cache, so that compiling is measured.
  Context& context(int threads);
  Runtime& runtime(int threads);  ///< of that context

 private:
  Report& report_;
  std::function<bool(const std::string&)> only_;
  double seconds_ = 0, begin_ = 0;
  std::map<int, std::unique_ptr<Context>> contexts_;
};

/// Uniform in [-1, 1), the same on each call.
std::vector<float> random_floats(size_t count, uint32_t seed);
/// Their bytes alone, for a peer to read.
void write_floats(const std::string& file, const std::vector<float>& values);
BufferRef to_device(Runtime& runtime, const std::vector<float>& values);
std::vector<float> to_host(const BufferRef& buffer, size_t count);
Graph make_graph(const std::string& name, std::vector<NodeRef> params,
                 std::vector<NodeRef> outputs);

/// Runs the graph, lets it end, throws its output away.
std::function<void()> runner(Runtime& runtime, const Graph& graph,
                             const std::vector<BufferRef>& inputs);

/// A time beside the bar that was set for it; seconds times `scale` are `unit`s.
Row against_bar(std::string name, const Timing& timing, double scale, std::string unit, double bar);
/// Adds what a launch of a cached plan costs until the call returns, and until all is done.
void bench_replay(Suite& suite, Runtime& runtime, const std::string& name);

/// sqrt(3 x + x) over so many elements: a size that is new is a kernel that no cache knows.
Graph elementwise_graph(Builder& b, int64_t count);
/// What is wrong with an element of its output for x = 1, or "".
std::string elementwise_fault(float got);

/// What a process of its own does for bench_fresh, by a name of first_calls.cpp; gives the exit
/// code.
int print_first_result(const std::string& what);
/// Computes twelve blocks and their gradient in the standard context. What is wrong with it, or "".
std::string transformer_fault();

/// `peers`: null for none.
void bench_workloads(Suite& suite, PeerProcess* peers);
/// Steps of training and answers of whole models.
void bench_models(Suite& suite, PeerProcess* peers);
/// Kernels so small that handing them over is what counts.
void bench_launches(Suite& suite, PeerProcess* peers);
void bench_memory(Suite& suite);
void bench_overhead(Suite& suite);
/// Functions of the tensor API.
void bench_arrays(Suite& suite);
/// Gradients, and steps of training.
void bench_training(Suite& suite);
/// An update of many parameters.
void bench_updates(Suite& suite);
void bench_fresh(Suite& suite);
/// Every device that is found beside those of the CPU plugin, or the one with that id. Throws
/// kEnvironment if that one is not there.
void bench_devices(Suite& suite, PeerProcess* peers, const std::string& id = "");
/// Of one of them, which is a GPU of that name.
void bench_on_gpu(Suite& suite, PeerProcess* peers, const std::string& id, const std::string& gpu);
void bench_models_on(Suite& suite, PeerProcess* peers, const std::string& id,
                     const std::string& gpu);
/// Of a device that is the host's processor by another way: workloads in turn with the CPU plugin.
void bench_on_processor(Suite& suite, const std::string& id);

}  // namespace tenon::bench
