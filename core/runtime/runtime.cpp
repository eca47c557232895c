// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/runtime.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "core/compile/compiler.hpp"
#include "core/device/open_devices.hpp"
#include "core/device/process_end.hpp"
#include "core/ir/structure.hpp"
#include "core/ir/substitute.hpp"
#include "core/plugin/environment.hpp"
#include "core/rewrite/passes.hpp"
#include "core/runtime/at_end.hpp"
#include "core/runtime/check_rules.hpp"
#include "core/runtime/compile_kernel.hpp"
#include "core/runtime/custom_kernels.hpp"
#include "core/runtime/device_rates.hpp"
#include "core/runtime/kernel_list.hpp"
#include "core/runtime/kernel_times.hpp"
#include "core/runtime/plan_cache.hpp"
#include "core/runtime/run_inputs.hpp"
#include "core/runtime/run_plan.hpp"
#include "core/runtime/run_state.hpp"
#include "core/support/log.hpp"
#include "core/support/private_folder.hpp"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::optional<std::string> variable(const RuntimeOptions& options, const char* name) {
  return options.use_environment ? environment(name) : std::nullopt;
}

/// The rules and custom kernels of the application, and the plans compiled with them. A change
/// makes a new edition; runs under way finish with their own.
struct Edition {
  std::shared_ptr<Edition> next() const {
    auto out = std::make_shared<Edition>();
    out->number = number + 1;
    out->rules = rules;
    out->kernels = kernels;
    return out;
  }
  uint64_t number = 0;
  rewrite::Rules rules;
  CustomKernels kernels;
  PlanCache plans;
};

}  // namespace

struct Runtime::Impl {
  explicit Impl(RuntimeOptions options) : compiler(builder, {.observer = options.observer}) {
    require_running();
    if (const auto log = variable(options, "TENON_LOG")) {
      check_log_channels("TENON_LOG", *log);
      set_log_channels(*log);
    }
    if (const auto text = variable(options, "TENON_VALIDATE"))
      validate = parse_flag("TENON_VALIDATE", *text);
    if (options.validate) validate = *options.validate;
    set_profile(options);
    constants_vary = options.constants_vary;
    if (const auto text = variable(options, "TENON_MATMUL"))
      matmul = parse_precision("TENON_MATMUL", *text);
    if (options.matmul) matmul = *options.matmul;

    OpenOptions open;
    open.cache = std::make_shared<DiskCache>(cache_folder(options));
    open.disk_cache = options.disk_cache;
    open.device.guard_bytes = options.guard_bytes;
    open.device.poison = options.poison;
    open.origin = options.devices ? "devices" : "TENON_DEVICES";
    open.selector = options.devices ? options.devices : variable(options, "TENON_DEVICES");
    const std::vector<std::filesystem::path> files(options.plugins.begin(), options.plugins.end());
    const Discovery found =
        options.use_environment ? installed_plugins(files) : discover_plugins({files, {}, {}});
    if (!found.problems.empty())
      fail(found.bad_value ? ErrorKind::kInvalid : ErrorKind::kEnvironment, "{}",
           found.problems[0]);
    open.require_compute = options.require_compute;
    open.probe = options.probe;
    open.probes = std::move(options.probes);
    if (!open.probes) {
      Probes::Options how;
      if (const auto text = variable(options, "TENON_PROBE_SECONDS"))
        how.seconds = parse_seconds("TENON_PROBE_SECONDS", *text);
      open.probes = std::make_shared<Probes>(open.cache, how);
    }
    opener = std::make_unique<DeviceOpener>(found, open);
    devices = opener->open_first();
  }

  void set_profile(const RuntimeOptions& options) {
    bool profile = false, prints = false;
    if (const auto text = variable(options, "TENON_PROFILE"))
      profile = prints = parse_flag("TENON_PROFILE", *text);
    if (options.profile) {
      profile = *options.profile;
      prints = false;
    }
    if (!profile) return;
    TN_REQUIRE(!validate, "[profile] expected kernels to be timed or validated, got both");
    times = std::make_shared<KernelTimes>();
    if (!prints) return;
    printed = std::make_unique<AtEnd>([times = times] {
      const KernelProfile profile = times->profile();
      if (!profile.kernels.empty()) std::fputs(to_string(profile).c_str(), stderr);
    });
  }

  ~Impl() {
    const InUse use(made_in, std::nothrow);
    if (!use) return;
    for (const auto& device : devices) {
      try {
        device->synchronize();
      } catch (const std::exception& error) {
        log_warning(fmt::format("work that nobody waited for has failed: {}", error.what()));
      }
    }
  }

  static std::filesystem::path cache_folder(const RuntimeOptions& options) {
    if (options.cache_dir) return *options.cache_dir;
    if (const auto text = variable(options, "TENON_CACHE_DIR"))
      return parse_folder("TENON_CACHE_DIR", *text);
    if (!options.disk_cache) return {};
    std::filesystem::path standard = default_cache_dir();
    tighten_folder(standard);
    return standard;
  }

  DeviceList opened() const {
    const std::lock_guard lock(devices_mutex);
    return devices;
  }

  static ScheduleOptions schedule_options(const DeviceList& devices,
                                          std::vector<InputPlace> input_places,
                                          const TransformChooser& by = TemplateChooser()) {
    ScheduleOptions options{.devices = {}, .input_places = std::move(input_places)};
    for (const auto& device : devices)
      options.devices.push_back({device->id(), by.seen(capabilities_of(*device))});
    return options;
  }

  int index_of(const Device& device) const {
    const std::lock_guard lock(devices_mutex);
    const auto at =
        std::ranges::find_if(devices, [&](const auto& d) { return d.get() == &device; });
    if (at == devices.end())
      fail(ErrorKind::kInvalid, "[run] expected buffers of this context's devices, got one of {}",
           device.id());
    return static_cast<int>(at - devices.begin());
  }

  Schedule schedule(const Graph& graph, const DeviceList& on, std::vector<InputPlace> input_places,
                    const Edition& by, const TransformChooser& chooser = TemplateChooser()) const {
    return compiler.schedule(graph, schedule_options(on, std::move(input_places), chooser), matmul,
                             by.rules);
  }

  std::shared_ptr<Edition> current() const {
    const std::lock_guard lock(edition_mutex);
    return edition;
  }

  /// Replaces the edition by a copy that `change` modifies. If `change` throws, nothing changes.
  /// One change at a time.
  template <class F>
  void change(F&& change) {
    const ForkHold hold;
    const std::lock_guard turn(change_mutex);
    auto next = current()->next();
    change(*next);
    const std::lock_guard lock(edition_mutex);
    edition.swap(next);
  }

  std::vector<BufferRef> run(const Graph& graph, const PlanUse& use,
                             const std::vector<BufferRef>& inputs, const SymbolValues& symbols,
                             RunStats* stats, const Fills& fills = {}) {
    const SymbolValues values = renamed_symbols(graph, use.plan->schedule().symbols, symbols);
    const RunOptions how{validate, stats, &fills, times.get()};
    if (!use.constants) return run_plan(*use.plan, inputs, values, how);
    std::vector<BufferRef> all = inputs;
    for (BufferRef& constants : use.constants->get(*use.plan)) all.push_back(std::move(constants));
    return run_plan(*use.plan, all, values, how);
  }

  /// Finds an open device by id. A shared lock would not pay.
  Device* find(const std::string& id) const {
    for (const auto& device : devices) {
      const std::string& name = device->id();
      if (id.empty() || name == id || name.substr(0, name.find(':')) == id) return device.get();
    }
    return nullptr;
  }

  /// Compiles plans with the rules and custom kernels of an edition.
  class EditionCompiler : public PlanCompiler {
   public:
    EditionCompiler(Runtime& runtime, const Edition& edition)
        : runtime_(runtime), impl_(*runtime.impl_), edition_(edition) {}

    SchedulePlanRef build(const Graph& graph,
                          const std::vector<InputPlace>& input_places) override {
      runtime_.open_copied(graph);
      const DeviceList devices = impl_.opened();
      CustomChooser chooser(edition_.kernels);
      return build_plan(impl_.schedule(graph, devices, input_places, edition_, chooser), devices,
                        impl_.compiler, chooser);
    }
    DTypeSet varying(const std::vector<InputPlace>& input_places) override {
      return impl_.constants_vary ? storable_dtypes(impl_.opened(), input_places) : 0;
    }
    std::vector<int> devices_of(const Skeleton& skeleton,
                                const std::vector<InputPlace>& input_places) override {
      return devices_of_uses(skeleton, schedule_options(impl_.opened(), input_places));
    }
    Builder& builder() override { return impl_.builder; }

   private:
    Runtime& runtime_;
    Impl& impl_;
    const Edition& edition_;
  };

  const Birthplace made_in = birthplace();
  Builder builder;
  const Compiler compiler;
  mutable std::mutex devices_mutex;
  std::unique_ptr<DeviceOpener> opener;
  DeviceList devices;       ///< only grows
  std::mutex change_mutex;  ///< taken before edition_mutex
  mutable std::mutex edition_mutex;
  std::shared_ptr<Edition> edition = std::make_shared<Edition>();
  bool validate = false, constants_vary = true;
  Precision matmul = Precision::kDefault;
  std::shared_ptr<KernelTimes> times;  ///< null: kernels are not timed
  std::unique_ptr<AtEnd> printed;
  const AtEnd unmatched{[this] {
    for (const std::string& line : current()->kernels.unmatched()) log_warning(line);
  }};
};

Runtime::Runtime(RuntimeOptions options) {
  const ForkHold hold;
  impl_ = std::make_unique<Impl>(std::move(options));
}

Runtime::~Runtime() {
  const ForkHold hold;
  // A child made by fork lacks the threads that destructors would wait for.
  if (!is_native(impl_->made_in)) leak(std::move(impl_));
  impl_.reset();
}

Runtime::Impl& Runtime::impl() const {
  require_native(impl_->made_in, "Context");
  return *impl_;
}

Builder& Runtime::builder() { return impl().builder; }

const Compiler& Runtime::compiler() const { return impl().compiler; }

std::vector<std::shared_ptr<Device>> Runtime::devices() const { return impl().opened(); }

std::vector<std::string> Runtime::device_ids() const {
  const ForkHold hold;
  const std::lock_guard lock(impl().devices_mutex);
  std::vector<std::string> ids;
  for (const auto& device : impl().devices) ids.push_back(device->id());
  for (std::string& id : impl().opener->offered()) ids.push_back(std::move(id));
  return ids;
}

Device& Runtime::device(const std::string& id) {
  const ForkHold hold;
  {
    const std::lock_guard lock(impl().devices_mutex);
    if (Device* device = impl().find(id)) return *device;
    if (auto device = impl().opener->open_named(id)) {
      impl().devices.push_back(std::move(device));
      return *impl().devices.back();
    }
  }
  fail(ErrorKind::kInvalid, "[device] expected one of {}, got '{}'", fmt::join(device_ids(), ", "),
       id);
}

Graph Runtime::as_run(const Graph& graph) {
  const ForkHold hold;
  return allow_precision(inline_calls(graph, impl().builder), impl().matmul, impl().builder);
}

SchedulePlanRef Runtime::plan(const Graph& graph, TransformChooser& chooser,
                              const std::string& device_id) {
  const ForkHold hold;
  std::vector<InputPlace> input_places(graph.params.size(),
                                       InputPlace(impl().index_of(device(device_id))));
  open_copied(graph);
  const DeviceList devices = impl().opened();
  return build_plan(
      impl().schedule(graph, devices, std::move(input_places), *impl().current(), chooser), devices,
      impl().compiler, chooser);
}

std::vector<BufferRef> Runtime::run_planned(const Graph& graph, const SchedulePlan& plan,
                                            const std::vector<BufferRef>& inputs,
                                            const SymbolValues& symbols, RunStats* stats) {
  const ForkHold hold;
  check_symbols(graph, symbols);
  check_buffers(graph, inputs, symbols);
  measure_devices(plan);
  return run_plan(plan, inputs, symbols,
                  {.validate = impl().validate, .stats = stats, .times = impl().times.get()});
}

std::vector<BufferRef> Runtime::run_planned(const Graph& graph, const PlanUse& use,
                                            const std::vector<BufferRef>& inputs,
                                            const SymbolValues& symbols, RunStats* stats,
                                            const Fills& fills) {
  const ForkHold hold;
  check_symbols(graph, symbols);
  check_buffers(graph, inputs, symbols);
  measure_devices(*use.plan);
  return impl().run(graph, use, inputs, symbols, stats, fills);
}

std::string Runtime::result_device(const Graph& graph, const std::vector<BufferRef>& inputs) {
  const ForkHold hold;
  std::vector<InputPlace> input_places;
  input_places.reserve(inputs.size());
  for (const BufferRef& input : inputs) input_places.emplace_back(impl_->index_of(input->device()));
  open_copied(graph);
  const Schedule plan =
      impl_->schedule(graph, impl_->opened(), std::move(input_places), *impl_->current());
  return plan
      .devices[static_cast<size_t>(plan.buffers[static_cast<size_t>(plan.outputs[0])].device)];
}

PlanUse Runtime::planned(const Graph& graph, const std::vector<BufferRef>& inputs, bool* out_cached,
                         const std::vector<bool>& donated) {
  const ForkHold hold;
  std::vector<InputPlace> input_places;
  input_places.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_places.emplace_back(impl().index_of(inputs[i]->device()));
    // A file is not memory, and a buffer that is two inputs must not change under one of them.
    if (i < donated.size() && donated[i] && !inputs[i]->is_slab() &&
        std::ranges::count(inputs, inputs[i]) == 1)
      input_places.back().donated = InputPlace::kForAny;
  }
  bool cached = false;
  const std::shared_ptr<Edition> edition = impl().current();
  Impl::EditionCompiler compiler(*this, *edition);
  PlanUse use =
      edition->plans.get(inline_calls(graph, impl().builder), input_places, compiler, cached);
  use.edition = edition->number;
  if (out_cached) *out_cached = cached;
  return use;
}

std::vector<BufferRef> Runtime::run(const Graph& graph, const std::vector<BufferRef>& inputs,
                                    const SymbolValues& symbols, RunStats* stats,
                                    const std::vector<bool>& donated) {
  const ForkHold hold;
  const auto begin = Clock::now();
  check_symbols(graph, symbols);
  check_buffers(graph, inputs, symbols);
  bool cached = false;
  const PlanUse use = planned(graph, inputs, &cached, donated);
  if (stats) {
    *stats = RunStats();
    stats->plan_cached = cached;
    if (!cached) stats->programs = use.plan->programs();
    if (use.plan->run_state().compiles_for(
            renamed_symbols(graph, use.plan->schedule().symbols, symbols)) ||
        !cached)
      stats->compile_ms = milliseconds_since(begin);
  }
  measure_devices(*use.plan);
  const auto run_begin = Clock::now();
  std::vector<BufferRef> outputs = impl().run(graph, use, inputs, symbols, stats);
  if (stats) stats->run_ms = milliseconds_since(run_begin);
  return outputs;
}

std::vector<Array> Runtime::run(const Graph& graph, const std::vector<Array>& inputs,
                                const SymbolValues& symbols, const std::string& device_id,
                                RunStats* stats) {
  const ForkHold hold;
  Device& on = device(device_id);
  const SymbolValues values = infer_symbols(graph, types_of(inputs), symbols);
  check_arrays(graph, inputs, values);
  std::vector<BufferRef> buffers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.params[i]->as<ParamAttr>().name;
    buffers.push_back(on.allocate(inputs[i].bytes.size(), name.empty() ? "inputs" : name));
    on.write(*buffers.back(), 0, inputs[i].bytes.data(), inputs[i].bytes.size());
  }
  const auto begin = Clock::now();
  const std::vector<BufferRef> results = run(graph, buffers, values, stats);
  std::vector<Array> outputs;
  for (size_t o = 0; o < results.size(); ++o) {
    Array array = empty_array(*graph.outputs[o], values);
    results[o]->device().read(*results[o], 0, array.bytes.data(), array.bytes.size());
    outputs.push_back(std::move(array));
  }
  // Only devices of this run are waited for: another device may be lost.
  on.synchronize();
  for (const BufferRef& result : results) result->device().synchronize();
  if (stats) stats->run_ms = milliseconds_since(begin) - stats->compile_ms;
  return outputs;
}

size_t Runtime::plan_count() const { return impl().current()->plans.size(); }

void Runtime::add_rules(std::string_view text, std::string_view origin) {
  impl().change([&](Edition& next) { next.rules = with_rules(next.rules, text, origin); });
}

void Runtime::set_transforms(const std::string& kernel, std::string_view transforms) {
  impl().change([&](Edition& next) { next.kernels.set_transforms(kernel, transforms); });
}

void Runtime::set_program(const std::string& kernel, std::string_view program,
                          const std::array<int64_t, 3>& workgroups) {
  impl().change([&](Edition& next) { next.kernels.set_program(kernel, program, workgroups); });
}

void Runtime::reset_kernel(const std::string& kernel) {
  impl().change([&](Edition& next) { next.kernels.reset(kernel); });
}

std::vector<KernelInfo> Runtime::kernels() {
  const ForkHold hold;
  const std::shared_ptr<Edition> edition = impl().current();
  KernelList list(impl().compiler, impl().opened(), edition->kernels);
  for (const SchedulePlanRef& plan : edition->plans.plans()) list.add(plan->schedule());
  return list.take();
}

KernelProfile Runtime::profile() {
  TN_REQUIRE(impl().times,
             "[profile] expected a context that times its kernels, got one without "
             "ContextOptions::profile and TENON_PROFILE=1");
  return impl().times->profile();
}

/// Measures the rates of each device once, before the first kernels that are compared with them.
void Runtime::measure_devices(const SchedulePlan& plan) {
  if (!impl().times) return;
  each_kernel(plan.schedule(), [&](const KernelCall&, int d) {
    Device& device = plan.device(d);
    if (impl().times->asks_for_rates(device.id()))
      impl().times->set_rates(measure_rates(*this, device));
  });
}

bool Runtime::is_current(const PlanUse& use) const {
  return use.edition == impl().current()->number;
}

Schedule Runtime::schedule_for(const Graph& graph, const std::string& device_id) {
  std::map<std::string, std::string> devices;
  for (const NodeRef& param : graph.params) devices[param->as<ParamAttr>().name] = device_id;
  return schedule_for(graph, devices);
}

Schedule Runtime::schedule_for(const Graph& graph,
                               const std::map<std::string, std::string>& devices) {
  const ForkHold hold;
  std::vector<InputPlace> input_places(graph.params.size(), InputPlace(0));
  size_t known = 0;
  for (size_t i = 0; i < graph.params.size(); ++i) {
    const auto at = devices.find(graph.params[i]->as<ParamAttr>().name);
    if (at == devices.end()) continue;
    input_places[i] = impl().index_of(device(at->second));
    ++known;
  }
  TN_REQUIRE(known >= devices.size(), "[schedule] expected inputs of graph {}, got {}", graph.name,
             devices.begin()->first);
  open_copied(graph);
  return impl().schedule(graph, impl().opened(), std::move(input_places), *impl().current());
}

/// Opens the devices that COPY nodes name.
void Runtime::open_copied(const Graph& graph) {
  std::vector<const Graph*> graphs{&graph};
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const NodeRef& node : topological(graphs[i]->outputs)) {
      if (node->op == Op::COPY) device(node->as<CopyAttr>().device);
      for (const Graph* inner : structure::graphs_of(node->attr))
        if (std::ranges::find(graphs, inner) == graphs.end()) graphs.push_back(inner);
    }
  }
}

}  // namespace tenon
