// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule -> plan: legalise, lower and compile each kernel.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/compile/compiler.hpp"
#include "core/runtime/compile_kernel.hpp"
#include "core/runtime/custom_program.hpp"
#include "core/runtime/parallel_for.hpp"
#include "core/runtime/plan.hpp"
#include "core/schedule/canonical.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

class PlanBuilder {
 public:
  PlanBuilder(const DeviceList& devices, const Compiler& compiler, TransformChooser& chooser)
      : devices_(devices), compiler_(compiler), chooser_(chooser) {}

  SchedulePlanRef build(const Schedule& schedule) {
    prepared_ = schedule.prepared;
    auto plan = skeleton(schedule);
    parallel_for(distinct_.size(), [&](size_t i) { lower(distinct_[i], i); });
    compile();
    for (const Job& job : jobs_) finish(job);
    return seal(std::move(plan));
  }

 private:
  /// Plans are filled in after the kernels of the plan and of its regions are compiled.
  struct Draft {
    const Schedule* schedule = nullptr;
    std::vector<StepPlan> steps;
    std::vector<std::array<std::unique_ptr<Draft>, 2>> regions;
  };
  /// A kernel of the schedule and the names that its graph gives to params and symbols.
  struct Job {
    Draft* draft;
    size_t step;
    size_t distinct;
    CanonicalKernel names;
  };
  /// One compilation for all kernels that differ only in names.
  struct Distinct {
    const KernelCall* first;  ///< of the kernels that share this compilation
    Graph graph;              ///< under canonical names
    int device;
    std::shared_ptr<const PreparedKernel> prepared;  ///< by the scheduler, or null
    std::optional<KernelCompilation> compilation;
    CompiledKernel kernel;
    std::shared_ptr<SizedKernel>
        sized;  ///< instead of a compiled kernel, where sizes are known at launch
  };
  /// Nodes of one Builder are hash-consed, so equal kernels have equal keys.
  using Key = std::tuple<int, std::vector<int>, std::vector<int>, std::vector<NodeRef>,
                         std::vector<NodeRef>>;

  void add_kernel(Draft* draft, size_t step) {
    const KernelCall& call = std::get<KernelCall>(draft->schedule->steps[step].call);
    const int device = draft->schedule->steps[step].device;
    Job job{draft, step, distinct_.size(), canonical_kernel(call.graph, compiler_.builder())};
    const Graph& graph = job.names.graph;
    const auto [at, is_new] = numbers_.try_emplace(
        Key{device, call.alias, call.sections, graph.params, graph.outputs}, job.distinct);
    if (is_new || chooser_.tells_equal_kernels_apart()) {
      const bool plain = prepared_ && call.sections.empty() &&
                         std::ranges::all_of(call.alias, [](int param) { return param < 0; });
      distinct_.push_back({&call,
                           graph,
                           device,
                           plain ? prepared_->find(device, graph) : nullptr,
                           {},
                           {},
                           nullptr});
    } else {
      job.distinct = at->second;
    }
    jobs_.push_back(std::move(job));
  }

  std::unique_ptr<Draft> skeleton(const Schedule& schedule) {
    auto draft = std::make_unique<Draft>();
    draft->schedule = &schedule;
    draft->steps.resize(schedule.steps.size());
    draft->regions.resize(schedule.steps.size());
    for (size_t i = 0; i < schedule.steps.size(); ++i) {
      const auto& call = schedule.steps[i].call;
      if (std::holds_alternative<KernelCall>(call)) {
        draft->steps[i].is_command = true;
        add_kernel(draft.get(), i);
      } else if (const auto* copy = std::get_if<CopyCall>(&call)) {
        draft->steps[i].is_command =
            device_of(schedule, copy->source) == schedule.steps[i].device &&
            device_of(schedule, copy->destination) == schedule.steps[i].device;
      } else if (const auto* branch = std::get_if<IfCall>(&call)) {
        draft->regions[i] = {skeleton(*branch->then_schedule), skeleton(*branch->else_schedule)};
      } else if (const auto* loop = std::get_if<LoopCall>(&call)) {
        draft->regions[i][0] = skeleton(*loop->body);
      }
    }
    return draft;
  }

  static int device_of(const Schedule& schedule, int buffer) {
    return schedule.buffers[static_cast<size_t>(buffer)].device;
  }

  static LowerOptions options_of(const Distinct& distinct) {
    return {.alias = distinct.first->alias, .sections = distinct.first->sections, .name = {}};
  }

  Device& device_of(const Distinct& distinct) const {
    return *devices_[static_cast<size_t>(distinct.device)];
  }

  void lower(Distinct& distinct, size_t number) const {
    try {
      distinct.compilation.emplace(distinct.graph, options_of(distinct), distinct.prepared,
                                   device_of(distinct), compiler_, chooser_);
      if (!defer_to_launch(distinct)) distinct.kernel.lowered = distinct.compilation->lower(number);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      refuse(distinct, number, error);
    }
  }

  /// Rethrows with the names of the graph, which the user knows.
  [[noreturn]] void refuse(const Distinct& distinct, size_t number, Error error) const {
    try {
      if (!chooser_.tells_equal_kernels_apart())
        KernelCompilation(distinct.first->graph, options_of(distinct), nullptr, device_of(distinct),
                          compiler_, chooser_)
            .lower(number);
    } catch (const Error& named) {
      error = named;
    }
    throw Error(error.kind(), fmt::format("{} (on {})", error.what(), device_of(distinct).id()));
  }

  /// A kernel whose symbols have several ranges is compiled when a launch gives its sizes. Ops and
  /// dtypes that the device lacks at any size are refused now.
  bool defer_to_launch(Distinct& distinct) const {
    if (!SizedKernel::has_several_ranges(distinct.graph)) return false;
    LowerOptions options = options_of(distinct);
    options.name = distinct.compilation->name();
    const auto later = chooser_.for_later(options.name);
    if (!later) return false;
    distinct.sized = std::make_shared<SizedKernel>(distinct.graph, std::move(options),
                                                   devices_[static_cast<size_t>(distinct.device)],
                                                   compiler_, later);
    return true;
  }

  void compile() {
    TN_LOG("plan", "{} kernels, {} different ones", jobs_.size(), distinct_.size());
    // The longest first, so that no thread begins it when the others are done.
    std::vector<Distinct*> order;
    for (Distinct& distinct : distinct_)
      if (!distinct.sized) order.push_back(&distinct);
    std::ranges::stable_sort(order, std::greater(), [](const Distinct* distinct) {
      return distinct->kernel.lowered.program.get()->total_size;
    });
    parallel_for(order.size(), [&](size_t i) {
      Distinct& distinct = *order[i];
      distinct.kernel = distinct.compilation->compile(std::move(distinct.kernel.lowered));
      const auto& [lowered, executable] = distinct.kernel;
      if (lowered.model)
        try_program(device_of(distinct), *executable, lowered, distinct.graph,
                    distinct.first->alias);
    });
  }

  void finish(const Job& job) const {
    const KernelCall& call = std::get<KernelCall>(job.draft->schedule->steps[job.step].call);
    const Distinct& distinct = distinct_[job.distinct];
    StepPlan& step = job.draft->steps[job.step];
    if (distinct.sized) {
      step.sized = std::make_unique<const SizedStep>(distinct.sized, job.names);
    } else {
      step.kernel = kernel_plan(distinct.kernel, job.names, call);
    }
  }

  int programs() const {
    std::set<const void*> different;
    for (const Distinct& distinct : distinct_)
      different.insert(distinct.sized ? static_cast<const void*>(distinct.sized.get())
                                      : distinct.kernel.executable.get());
    return static_cast<int>(different.size());
  }

  SchedulePlanRef seal(std::unique_ptr<Draft> draft) {
    for (size_t i = 0; i < draft->steps.size(); ++i) {
      auto& [first, second] = draft->regions[i];
      StepPlan& step = draft->steps[i];
      if (second) {
        step.then_plan = seal(std::move(first));
        step.else_plan = seal(std::move(second));
      } else if (first) {
        step.body = seal(std::move(first));
      }
    }
    Schedule schedule = *draft->schedule;
    schedule.prepared = nullptr;  // not needed after compilation
    return std::make_shared<SchedulePlan>(std::move(schedule), std::move(draft->steps), devices_,
                                          programs());
  }

  const DeviceList& devices_;
  const Compiler& compiler_;
  TransformChooser& chooser_;
  std::shared_ptr<const PreparedKernels> prepared_;
  std::vector<Job> jobs_;
  std::vector<Distinct> distinct_;
  std::map<Key, size_t> numbers_;
};

}  // namespace

SchedulePlanRef build_plan(const Schedule& schedule, const DeviceList& devices,
                           const Compiler& compiler, TransformChooser& chooser) {
  return PlanBuilder(devices, compiler, chooser).build(schedule);
}

}  // namespace tenon
