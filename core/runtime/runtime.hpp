// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Runtime owns plugins, devices, pools and caches. There are no other globals.
#pragma once

#include <array>
#include <map>
#include <memory>
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

/// Options for the core's own tools, besides the public ones.
struct RuntimeOptions : ContextOptions {
  RuntimeOptions() = default;
  RuntimeOptions(ContextOptions options) : ContextOptions(std::move(options)) {}  // NOLINT
  /// Bytes of guard zone on each side of every buffer. Guard zones and new buffers are filled with
  /// `poison`. For the conformance tool; Device::check_guards finds overwritten zones.
  uint32_t guard_bytes = 0;
  uint8_t poison = 0xA5;
  /// false: constants never become inputs, so each value gets its own plan. For the conformance
  /// tool, whose cases must not depend on earlier ones.
  bool constants_vary = true;
  /// false: devices with memory only are accepted, for their self-tests.
  bool require_compute = true;
  /// false: plugins that `devices` names are loaded without a probe, as with @noprobe. For programs
  /// that isolate plugins themselves.
  bool probe = true;
  std::shared_ptr<Probes> probes;    ///< earlier probe results; null: none
  PassObserver* observer = nullptr;  ///< of compiler passes; outlives the context
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
  /// Ids that `device` accepts: open devices, then those that it would open.
  std::vector<std::string> device_ids() const;
  /// "" is the default; "cpu" the first of its backend; "BACKEND:PATH" a file or folder of a
  /// storage backend. Where TENON_DEVICES names no devices, one that is not open yet is opened.
  /// Throws kInvalid with the list of what there is.
  Device& device(const std::string& id = "");

  /// Runs a graph on the devices of the given input buffers. Returns after submission, or after the
  /// first launch of a new kernel; reading an output waits for it. Graphs of equal structure share
  /// one plan, whatever the values of symbols. Graphs that differ only in constants need few plans:
  /// the second plan takes the constants that changed as inputs. Inputs that are `donated` (empty:
  /// none) may be overwritten, and outputs may be their buffers; the caller must not use them
  /// again.
  std::vector<BufferRef> run(const Graph& graph, const std::vector<BufferRef>& inputs,
                             const SymbolValues& symbols = {}, RunStats* stats = nullptr,
                             const std::vector<bool>& donated = {});
  /// Runs a graph on host arrays on one device ("" for the default) and waits for the results.
  std::vector<Array> run(const Graph& graph, const std::vector<Array>& inputs,
                         const SymbolValues& symbols, const std::string& device,
                         RunStats* stats = nullptr);

  /// The graph with the precision that the context allows for its contractions. Results are judged
  /// by this graph.
  Graph as_run(const Graph& graph);

  /// The plan that `run` uses for these inputs, compiled and cached if it is new.
  PlanUse planned(const Graph& graph, const std::vector<BufferRef>& inputs,
                  bool* out_cached = nullptr, const std::vector<bool>& donated = {});
  /// A plan for inputs on `device` with transforms from `chooser`. It is not cached.
  SchedulePlanRef plan(const Graph& graph, TransformChooser& chooser,
                       const std::string& device = "");
  /// Runs a graph with its plan, as `run` does.
  std::vector<BufferRef> run_planned(const Graph& graph, const PlanUse& use,
                                     const std::vector<BufferRef>& inputs,
                                     const SymbolValues& symbols = {}, RunStats* stats = nullptr,
                                     const Fills& fills = {});
  std::vector<BufferRef> run_planned(const Graph& graph, const SchedulePlan& plan,
                                     const std::vector<BufferRef>& inputs,
                                     const SymbolValues& symbols = {}, RunStats* stats = nullptr);

  /// Number of cached plans since the last change of rules or custom kernels.
  size_t plan_count() const;

  /// Adds rewrite rules that apply to every graph from now on. Adds all rules of the text, or none
  /// if it throws, as with_rules (core/runtime/check_rules.hpp) does. Runs under way keep the old
  /// rules.
  void add_rules(std::string_view text, std::string_view origin);
  /// Settings for kernels from now on (core/runtime/custom_kernels.hpp). A setting that does not
  /// fit a kernel throws when the kernel is planned.
  void set_transforms(const std::string& kernel, std::string_view transforms);
  void set_program(const std::string& kernel, std::string_view program,
                   const std::array<int64_t, 3>& workgroups);
  void reset_kernel(const std::string& kernel);
  /// Kernels of the cached plans, each once for a device.
  std::vector<KernelInfo> kernels();
  /// Times of kernels so far. Throws kInvalid unless ContextOptions::profile is set.
  KernelProfile profile();
  /// Whether rules and custom kernels are those that the plan was compiled with.
  bool is_current(const PlanUse& use) const;

  /// Id of the device of output 0 when a graph runs on these inputs.
  std::string result_device(const Graph& graph, const std::vector<BufferRef>& inputs);

  /// The schedule that `run` would use for inputs on the given device.
  Schedule schedule_for(const Graph& graph, const std::string& device = "");
  /// The same with a device for each input by name. Inputs not named are on the default device.
  Schedule schedule_for(const Graph& graph, const std::map<std::string, std::string>& devices);

 private:
  void open_copied(const Graph& graph);
  void measure_devices(const SchedulePlan& plan);
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
