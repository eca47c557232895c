// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/templates/templates.hpp"

#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"
#include "core/kernel/tree/loop_trips.hpp"

namespace tenon {
namespace {

/// Schedules a nest; returns false and does nothing if it does not match.
using Template = bool (*)(ScheduleBuilder& builder, int axis);

/// Most specific first. A nest that none matches is elementwise or a row reduction.
constexpr Template kSimd[] = {schedule_attention,    schedule_attention_gradient,
                              schedule_softmax_rows, schedule_scatter,
                              schedule_scan,         schedule_skinny,
                              schedule_matmul};
constexpr Template kThreads[] = {schedule_attention};

bool any_takes(std::span<const Template> templates, ScheduleBuilder& builder, int axis) {
  return std::ranges::any_of(templates, [&](Template t) { return t(builder, axis); });
}

void schedule_nest(ScheduleBuilder& builder, int axis) {
  switch (builder.kind()) {
    case DeviceKind::kScalar:
      return schedule_plain_nest(builder, axis);
    case DeviceKind::kSimd:
      if (!any_takes(kSimd, builder, axis)) schedule_vector_nest(builder, axis);
      return;
    case DeviceKind::kSpmd:
    case DeviceKind::kGpu:
      if (!any_takes(kThreads, builder, axis)) schedule_threads_nest(builder, axis);
      return;
  }
}

Chosen finish(ScheduleBuilder&& builder) {
  if (const auto& no = builder.refusal()) throw Error(no->kind, no->message);
  return {std::move(builder.kernel), std::move(builder.list)};
}

Chosen schedule_all(Kernel tree, const Capabilities& capabilities, const Decide& decide) {
  std::vector<int> totals, nests;
  for (const Statement& s : tree.body) {
    if (s.kind == Statement::Kind::kLoop) nests.push_back(s.axis);
    if (s.kind == Statement::Kind::kReduce) totals.push_back(s.id);
  }
  ScheduleBuilder builder(std::move(tree), capabilities, decide);
  for (const int id : totals) {
    if (builder.kind() == DeviceKind::kSimd) schedule_reduction(builder, id);
    if (capabilities.has_threads()) schedule_total(builder, id);
  }
  for (const int axis : nests) schedule_nest(builder, axis);
  return finish(std::move(builder));
}

/// On SPMD devices a template's loops may exceed the device's limit. Then the kernel is scheduled
/// as for a GPU, with large workgroups, if that has fewer iterations.
Chosen within_loop_limit(Chosen chosen, const Kernel& tree, const Capabilities& capabilities,
                         const Decide& decide) {
  const uint32_t limit = capabilities.max_loop_trips;
  if (limit == 0 || capabilities.kind() != DeviceKind::kSpmd) return chosen;
  const Expr trips = loop_trips(chosen.kernel, limit);
  if (trips.max() <= limit) return chosen;
  Capabilities many = capabilities;
  many.software = false;
  Chosen spread = schedule_all(tree, many, decide);
  return loop_trips(spread.kernel, limit).max() < trips.max() ? spread : chosen;
}

}  // namespace

Chosen choose_transforms(const Kernel& tree, const Capabilities& capabilities,
                         const Decide& decide) {
  return within_loop_limit(schedule_all(tree, capabilities, decide), tree, capabilities, decide);
}

std::optional<Chosen> choose_fused(const Kernel& tree, const Capabilities& capabilities) {
  const DeviceKind kind = capabilities.kind();
  if (kind == DeviceKind::kScalar || tree.body.size() != 1 || !is_loop(tree.body[0]))
    return std::nullopt;
  const int axis = tree.body[0].axis;
  const Decide by_rule;
  const auto done = [&](ScheduleBuilder& builder) {
    return within_loop_limit(finish(std::move(builder)), tree, capabilities, by_rule);
  };
  ScheduleBuilder attention(tree, capabilities, by_rule);
  if (schedule_attention(attention, axis)) return done(attention);
  ScheduleBuilder gradient(tree, capabilities, by_rule);
  if (!schedule_attention_gradient(gradient, axis)) return std::nullopt;
  if (kind == DeviceKind::kSimd) return done(gradient);
  // A device with threads schedules the same kernel by its own templates.
  ScheduleBuilder threads(tree, capabilities, by_rule);
  schedule_threads_nest(threads, axis);
  return done(threads);
}

}  // namespace tenon
