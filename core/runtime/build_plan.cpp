// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule -> plan: legalise, lower and compile each kernel.
#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <unordered_map>

#include "core/lower/lower.hpp"
#include "core/rewrite/passes.hpp"
#include "core/runtime/disk_cache.hpp"
#include "core/runtime/plan.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

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
  const auto work = [&] {
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
    for (size_t t = 1; t < threads; ++t) pool.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// A name made from what the kernel does, so that equal kernels become equal programs.
std::string kernel_name(const Graph& graph) {
  std::string_view verb = "move";
  for (const NodeRef& node : topological(graph.outputs)) {
    if (node->op == Op::STORE) verb = "store";
    if (node->op == Op::REDUCE && verb != "store") verb = "reduce";
    if (is_elementwise(node->op) && verb == "move") verb = "map";
  }
  return fmt::format("{}_{:016x}", verb, structure_hash(graph));
}

class PlanBuilder {
 public:
  PlanBuilder(const DeviceList& devices, Builder& builder, const KernelLowering& lowering)
      : devices_(devices), builder_(builder), lowering_(lowering) {}

  SchedulePlanRef build(const Schedule& schedule) {
    auto plan = skeleton(schedule);
    for_all(jobs_.size(), [&](size_t i) { lower(jobs_[i], i); });
    compile();
    for (Job& job : jobs_) finish(job);
    return seal(std::move(plan));
  }

 private:
  /// Plans are filled in after all kernels of the whole tree are compiled.
  struct Draft {
    const Schedule* schedule = nullptr;
    std::vector<StepPlan> steps;
    std::vector<std::array<std::unique_ptr<Draft>, 2>> regions;
  };
  struct Job {
    Draft* draft;
    size_t step;
    LoweredKernel kernel;
    ExecutableRef executable;
  };

  std::unique_ptr<Draft> skeleton(const Schedule& schedule) {
    auto draft = std::make_unique<Draft>();
    draft->schedule = &schedule;
    draft->steps.resize(schedule.steps.size());
    draft->regions.resize(schedule.steps.size());
    for (size_t i = 0; i < schedule.steps.size(); ++i) {
      const auto& call = schedule.steps[i].call;
      if (std::holds_alternative<KernelCall>(call)) {
        draft->steps[i].is_command = true;
        jobs_.push_back({draft.get(), i, {}, nullptr});
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

  const Step& step_of(const Job& job) const { return job.draft->schedule->steps[job.step]; }

  void lower(Job& job, size_t number) {
    const Step& step = step_of(job);
    const KernelCall& call = std::get<KernelCall>(step.call);
    const Device& device = *devices_[static_cast<size_t>(step.device)];
    const Capabilities& caps = device.capabilities();
    try {
      const Graph legal = legalise(call.graph, caps, builder_);
      LowerOptions options;
      options.alias = call.alias;
      options.name = kernel_name(legal);
      job.kernel =
          lowering_ ? lowering_(legal, caps, options, number) : lower_kernel(legal, caps, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      throw Error(error.kind(), fmt::format("{} (on {})", error.what(), device.id()));
    }
  }

  void compile() {
    std::unordered_map<std::string, std::vector<size_t>> groups;
    std::vector<std::string> order;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const auto bytes = jobs_[i].kernel.program.view().bytes();
      const std::string key =
          fmt::format("{} {}", step_of(jobs_[i]).device,
                      hash_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      auto& group = groups[key];
      if (group.empty()) order.push_back(key);
      group.push_back(i);
    }
    TN_LOG("plan", "{} kernels, {} different ones", jobs_.size(), order.size());
    for_all(order.size(), [&](size_t k) {
      const std::vector<size_t>& group = groups.find(order[k])->second;
      const Job& first = jobs_[group[0]];
      Device& device = *devices_[static_cast<size_t>(step_of(first).device)];
      const ExecutableRef executable = device.compile(*first.kernel.program.get());
      for (const size_t i : group) jobs_[i].executable = executable;
    });
  }

  void finish(Job& job) {
    const KernelCall& call = std::get<KernelCall>(step_of(job).call);
    KernelPlan& plan = job.draft->steps[job.step].kernel;
    plan.executable = job.executable;
    plan.grid = job.kernel.grid;
    plan.block = job.kernel.block;
    plan.index_bounds = job.kernel.index_bounds;
    const std::vector<uint32_t> sizes = argument_sizes(job.kernel.program.view());
    TN_ASSERT(sizes.size() == job.kernel.arguments.size());
    for (size_t a = 0; a < sizes.size(); ++a) {
      const LaunchArgument& argument = job.kernel.arguments[a];
      const auto i = static_cast<size_t>(argument.index);
      switch (argument.kind) {
        case LaunchArgument::Kind::kInput:
          plan.arguments.push_back({call.inputs.at(i), {}, 0});
          break;
        case LaunchArgument::Kind::kOutput:
          plan.arguments.push_back({call.outputs.at(i), {}, 0});
          break;
        case LaunchArgument::Kind::kSymbol:
          plan.arguments.push_back({-1, argument.value, sizes[a]});
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
    return std::make_shared<SchedulePlan>(*draft->schedule, std::move(draft->steps), devices_);
  }

  const DeviceList& devices_;
  Builder& builder_;
  const KernelLowering& lowering_;
  std::vector<Job> jobs_;
};

}  // namespace

SchedulePlanRef build_plan(const Schedule& schedule, const DeviceList& devices, Builder& builder,
                           const KernelLowering& lowering) {
  return PlanBuilder(devices, builder, lowering).build(schedule);
}

}  // namespace tenon
