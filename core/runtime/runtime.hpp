// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Runtime owns everything that lives: plugins, devices, pools, caches. There are no other
// globals.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.hpp"
#include "core/ir/build.hpp"
#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"
#include "core/runtime/plan_use.hpp"
#include "core/schedule/memory_plan.hpp"
#include "core/schedule/schedule.hpp"
#include "tenon/context_options.hpp"
#include "tenon/profile.hpp"

namespace tenon {

class Compiler;
class PassObserver;
class Probes;
class TransformChooser;

/// What the core's own tools set beside what everybody may.
struct RuntimeOptions : ContextOptions {
  RuntimeOptions() = default;
  RuntimeOptions(ContextOptions options) : ContextOptions(std::move(options)) {}  // NOLINT
  /// Bytes of guard zone on both sides of every buffer, filled with `poison`, as new buffers are.
  /// For the conformance tool; Device::check_guards tells what was overwritten.
  uint32_t guard_bytes = 0;
  uint8_t poison = 0xA5;
  /// false: constants never become inputs, each value takes a plan of its own; for the conformance
  /// tool, whose cases shall not depend on those before.
  bool constants_vary = true;
  /// false: a context of devices with memory only is fine; for self-tests of such.
  bool require_compute = true;
  /// false: plugins that `devices` names are loaded without a probe, as with @noprobe. For programs
  /// that guard themselves.
  bool probe = true;
  std::shared_ptr<Probes> probes;    ///< what is known of plugins already; null: nothing
  PassObserver* observer = nullptr;  ///< of what is compiled; outlives the context
};

class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Builder& builder();
  const Compiler& compiler() const;
  /// The open devices; [0] is the default, the others come in order of priority or as they were
  /// opened. Never empty: the constructor throws instead.
  std::vector<std::shared_ptr<Device>> devices() const;
  /// Ids that `device` takes: open ones, then those that it would open.
  std::vector<std::string> device_ids() const;
  /// "" is the default; "cpu" the first of its backend; "BACKEND:PATH" a file or folder of a
  /// storage backend. Where TENON_DEVICES names no devices, one that is not open yet is opened.
  /// Throws kInvalid with the list of what there is.
  Device& device(const std::string& id = "");

  /// Runs a graph on the given input buffers (their devices decide where). Returns after
  /// submission, where kernels are new after their first launch; reading an output waits for it.
  /// Equal structures share one plan; other values of symbols re-use it. Graphs that differ in
  /// constants alone take few plans in all: the second one takes what has changed as inputs.
  /// Inputs that are `donated` (empty: none) may be written over where that spares memory, outputs
  /// may be their buffers then, and what the caller holds of them is spent.
  std::vector<BufferRef> run(const Graph& graph, const std::vector<BufferRef>& inputs,
                             const SymbolValues& symbols = {}, RunStats* stats = nullptr,
                             const std::vector<bool>& donated = {});
  /// The same for host arrays on one device ("" for the default), waiting for the end.
  std::vector<Array> run(const Graph& graph, const std::vector<Array>& inputs,
                         const SymbolValues& symbols, const std::string& device,
                         RunStats* stats = nullptr);

  /// The graph with what the context allows of its contractions: what results are judged by.
  Graph as_run(const Graph& graph);

  /// The plan that `run` uses for these inputs: compiled now, if it was not yet, and kept.
  PlanUse planned(const Graph& graph, const std::vector<BufferRef>& inputs,
                  bool* out_cached = nullptr, const std::vector<bool>& donated = {});
  /// A plan of its own, for inputs on `device`, with transforms that the caller chooses. Nothing is
  /// kept of it.
  SchedulePlanRef plan(const Graph& graph, TransformChooser& chooser,
                       const std::string& device = "");
  /// Runs the plan of a graph as `run` does its own.
  std::vector<BufferRef> run_planned(const Graph& graph, const PlanUse& use,
                                     const std::vector<BufferRef>& inputs,
                                     const SymbolValues& symbols = {}, RunStats* stats = nullptr,
                                     const Fills& fills = {});
  std::vector<BufferRef> run_planned(const Graph& graph, const SchedulePlan& plan,
                                     const std::vector<BufferRef>& inputs,
                                     const SymbolValues& symbols = {}, RunStats* stats = nullptr);

  /// Plans that `run` and `planned` have made and keep, since the last change below.
  size_t plan_count() const;

  /// Rules of the application, which every graph from now on is rewritten by first; all of the text
  /// or, where it throws, nothing of it. Throws as with_rules (core/runtime/check_rules.hpp). May
  /// be called while others run: what they have begun ends as it began.
  void add_rules(std::string_view text, std::string_view origin);
  /// What OwnKernels takes (core/runtime/own_kernels.hpp), for every kernel from now on. What does
  /// not fit a kernel is thrown where that is planned.
  void set_transforms(const std::string& kernel, std::string_view transforms);
  void set_program(const std::string& kernel, std::string_view program,
                   const std::array<int64_t, 3>& workgroups);
  void reset_kernel(const std::string& kernel);
  /// Kernels of the plans that are kept, each once a device.
  std::vector<KernelInfo> kernels();
  /// What kernels have taken so far. Throws kInvalid unless they are timed
  /// (ContextOptions::profile).
  KernelProfile profile();
  /// Whether nothing has changed since the plan was asked for.
  bool is_current(const PlanUse& use) const;

  /// Id of the device that output 0 of a graph comes to lie on, run on these inputs.
  std::string result_device(const Graph& graph, const std::vector<BufferRef>& inputs);

  /// The schedule that `run` would use for inputs on the given device.
  Schedule schedule_for(const Graph& graph, const std::string& device = "");
  /// The same with the device of each input by its name; of those not named it is the default.
  Schedule schedule_for(const Graph& graph, const std::map<std::string, std::string>& devices);

 private:
  void open_copied(const Graph& graph);
  void measure_devices(const SchedulePlan& plan);
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
