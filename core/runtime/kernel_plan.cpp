// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/kernel_plan.hpp"

#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Replaces the canonical symbols n0, n1, ... of an expression by those of the call.
Expr with_call_names(const Expr& value, const CanonicalKernel& names) {
  return names.symbols.empty() ? value : value.substitute(names.symbols);
}

IndexBound with_call_names(IndexBound bound, const CanonicalKernel& names) {
  bound.index = with_call_names(bound.index, names);
  bound.count = with_call_names(bound.count, names);
  if (const auto name = names.params.find(bound.buffer); name != names.params.end())
    bound.buffer = name->second;
  return bound;
}

/// Element size in bytes of each param that the launch binds.
std::vector<uint32_t> argument_sizes(const sdk::ProgramView& program) {
  std::vector<uint32_t> sizes;
  for (uint32_t p = 0; p < program.param_count(); ++p)
    if (program.param(p).kind != TN_PARAM_ALLOC)
      sizes.push_back(sdk::dtype_bytes(static_cast<uint8_t>(program.param(p).dtype)));
  return sizes;
}

}  // namespace

KernelPlan kernel_plan(const CompiledKernel& kernel, const CanonicalKernel& names,
                       const KernelCall& call) {
  const LoweredKernel& lowered = kernel.lowered;
  KernelPlan plan;
  plan.name = lowered.program.view().name();
  plan.executable = kernel.executable;
  for (size_t axis = 0; axis < 3; ++axis)
    plan.grid[axis] = with_call_names(lowered.grid[axis], names);
  plan.block = lowered.block;
  for (const IndexBound& bound : lowered.index_bounds)
    plan.index_bounds.push_back(with_call_names(bound, names));
  if (lowered.loop_bound)
    plan.loop_bound =
        LoopBound{with_call_names(lowered.loop_bound->trips, names), lowered.loop_bound->limit};
  const std::vector<uint32_t> sizes = argument_sizes(lowered.program.view());
  TN_ASSERT(sizes.size() == lowered.arguments.size());
  for (size_t a = 0; a < sizes.size(); ++a) {
    const LaunchArgument& argument = lowered.arguments[a];
    const auto i = static_cast<size_t>(argument.index);
    switch (argument.kind) {
      case LaunchArgument::Kind::kInput:
        plan.arguments.push_back({call.inputs.at(i), {}, 0});
        break;
      case LaunchArgument::Kind::kOutput:
        plan.arguments.push_back({call.outputs.at(i), {}, 0});
        break;
      case LaunchArgument::Kind::kSymbol:
        plan.arguments.push_back({-1, with_call_names(argument.value, names), sizes[a]});
        break;
    }
  }
  return plan;
}

}  // namespace tenon
