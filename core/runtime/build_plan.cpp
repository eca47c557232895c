// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule -> plan: legalise, lower and compile each kernel.
#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>

#include "core/compile/compiler.hpp"
#include "core/runtime/own_program.hpp"
#include "core/runtime/plan.hpp"
#include "core/schedule/canonical.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"
#include "core/support/process.hpp"

namespace tenon {
namespace {

/// Calls action(0..count-1), on several threads if there is more than one; the first error wins.
template <class F>
void for_all(size_t count, F&& action) {
  const size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) action(i);
    return;
  }
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> errors(count);
  std::atomic<bool> failed{false};
  const ForkHold hold;
  const auto work = [&] {
    const WithinForkHold within;
    for (size_t i = next++; i < count && !failed; i = next++) {
      try {
        action(i);
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    try {
      for (size_t t = 1; t < threads; ++t) pool.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those that are there do it all
    }
    work();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

class PlanBuilder {
 public:
  PlanBuilder(const DeviceList& devices, const Compiler& compiler, TransformChooser& chooser)
      : devices_(devices), compiler_(compiler), chooser_(chooser) {}

  SchedulePlanRef build(const Schedule& schedule) {
    auto plan = skeleton(schedule);
    for_all(distinct_.size(), [&](size_t i) { lower(distinct_[i], i); });
    compile();
    for (const Job& job : jobs_) finish(job);
    return seal(std::move(plan));
  }

 private:
  /// Plans are filled in after all kernels of the whole tree are compiled.
  struct Draft {
    const Schedule* schedule = nullptr;
    std::vector<StepPlan> steps;
    std::vector<std::array<std::unique_ptr<Draft>, 2>> regions;
  };
  /// A kernel of the schedule under the names of its graph.
  struct Job {
    Draft* draft;
    size_t step;
    size_t distinct;
    CanonicalKernel names;
  };
  /// What kernels have in common that differ in names alone.
  struct Distinct {
    const KernelCall* first;  ///< of the kernels that it stands for
    Graph graph;              ///< under canonical names
    int device;
    LoweredKernel kernel;
    ExecutableRef executable;
  };
  /// One Builder makes equal nodes the same, so these are equal where the kernels are.
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
      distinct_.push_back({&call, graph, device, {}, nullptr});
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

  LoweredKernel lowered(const Graph& graph, const Distinct& distinct, size_t number) const {
    const Capabilities& caps = devices_[static_cast<size_t>(distinct.device)]->capabilities();
    const LowerOptions options{
        .alias = distinct.first->alias, .sections = distinct.first->sections, .name = {}};
    return compiler_.lower(compiler_.legalise(graph, caps), caps, options, chooser_, number);
  }

  void lower(Distinct& distinct, size_t number) const {
    try {
      distinct.kernel = lowered(distinct.graph, distinct, number);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      refuse(distinct, number, error);
    }
  }

  /// Says what was refused by the names that the user knows.
  [[noreturn]] void refuse(const Distinct& distinct, size_t number, Error error) const {
    try {
      if (!chooser_.tells_equal_kernels_apart()) lowered(distinct.first->graph, distinct, number);
    } catch (const Error& named) {
      error = named;
    }
    throw Error(error.kind(), fmt::format("{} (on {})", error.what(),
                                          devices_[static_cast<size_t>(distinct.device)]->id()));
  }

  void compile() {
    TN_LOG("plan", "{} kernels, {} different ones", jobs_.size(), distinct_.size());
    // The longest first: else one thread may begin it when the others are done.
    std::vector<Distinct*> order;
    for (Distinct& distinct : distinct_) order.push_back(&distinct);
    std::ranges::stable_sort(order, std::greater(), [](const Distinct* distinct) {
      return distinct->kernel.program.get()->total_size;
    });
    for_all(order.size(), [&](size_t i) {
      Distinct& distinct = *order[i];
      Device& device = *devices_[static_cast<size_t>(distinct.device)];
      distinct.executable = device.compile(*distinct.kernel.program.get());
      if (distinct.kernel.model)
        try_program(device, *distinct.executable, distinct.kernel, distinct.graph,
                    distinct.first->alias);
    });
  }

  /// An expression over n0, n1, ... over the symbols of the job's own kernel.
  static Expr own(const Expr& value, const Job& job) {
    return job.names.symbols.empty() ? value : value.substitute(job.names.symbols);
  }

  static IndexBound own(IndexBound bound, const Job& job) {
    bound.index = own(bound.index, job);
    bound.count = own(bound.count, job);
    if (const auto name = job.names.params.find(bound.buffer); name != job.names.params.end())
      bound.buffer = name->second;
    return bound;
  }

  void finish(const Job& job) const {
    const KernelCall& call = std::get<KernelCall>(job.draft->schedule->steps[job.step].call);
    const Distinct& distinct = distinct_[job.distinct];
    const LoweredKernel& kernel = distinct.kernel;
    KernelPlan& plan = job.draft->steps[job.step].kernel;
    plan.name = kernel.program.view().name();
    plan.executable = distinct.executable;
    for (size_t axis = 0; axis < 3; ++axis) plan.grid[axis] = own(kernel.grid[axis], job);
    plan.block = kernel.block;
    for (const IndexBound& bound : kernel.index_bounds)
      plan.index_bounds.push_back(own(bound, job));
    if (kernel.loop_bound)
      plan.loop_bound = LoopBound{own(kernel.loop_bound->trips, job), kernel.loop_bound->limit};
    const std::vector<uint32_t> sizes = argument_sizes(kernel.program.view());
    TN_ASSERT(sizes.size() == kernel.arguments.size());
    for (size_t a = 0; a < sizes.size(); ++a) {
      const LaunchArgument& argument = kernel.arguments[a];
      const auto i = static_cast<size_t>(argument.index);
      switch (argument.kind) {
        case LaunchArgument::Kind::kInput:
          plan.arguments.push_back({call.inputs.at(i), {}, 0});
          break;
        case LaunchArgument::Kind::kOutput:
          plan.arguments.push_back({call.outputs.at(i), {}, 0});
          break;
        case LaunchArgument::Kind::kSymbol:
          plan.arguments.push_back({-1, own(argument.value, job), sizes[a]});
          break;
      }
    }
  }

  /// Bytes of an element of each param that the launch binds.
  static std::vector<uint32_t> argument_sizes(const sdk::ProgramView& program) {
    std::vector<uint32_t> sizes;
    for (uint32_t p = 0; p < program.param_count(); ++p)
      if (program.param(p).kind != TN_PARAM_ALLOC)
        sizes.push_back(sdk::dtype_bytes(static_cast<uint8_t>(program.param(p).dtype)));
    return sizes;
  }

  int programs() const {
    std::set<const Executable*> different;
    for (const Distinct& distinct : distinct_) different.insert(distinct.executable.get());
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
    return std::make_shared<SchedulePlan>(*draft->schedule, std::move(draft->steps), devices_,
                                          programs());
  }

  const DeviceList& devices_;
  const Compiler& compiler_;
  TransformChooser& chooser_;
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
