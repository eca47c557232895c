// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/templates/templates.hpp"

#include "core/kernel/templates/schedule_builder.hpp"
#include "core/kernel/tree/loop_trips.hpp"

namespace tenon {

namespace {

bool has_threads(const Capabilities& capabilities) {
  return capabilities.max_workgroup_threads > 1;
}
bool has_vectors(const Capabilities& capabilities) {
  return !has_threads(capabilities) && capabilities.vector_bytes > 1 &&
         capabilities.has(Op::BROADCAST);
}

Chosen choose_templates(Kernel tree, const Capabilities& capabilities, const Decide& decide);

}  // namespace

bool is_online_softmax(Kernel tree, const Capabilities& capabilities) {
  if (!(has_vectors(capabilities) || has_threads(capabilities)) || tree.body.size() != 1 ||
      tree.body[0].kind != Statement::Kind::kLoop)
    return false;
  const int axis = tree.body[0].axis;
  const Decide by_rule;
  ScheduleBuilder builder(std::move(tree), capabilities, by_rule);
  return (schedule_attention(builder, axis) || schedule_attention_gradient(builder, axis)) &&
         !builder.refusal();
}

Chosen choose_transforms(Kernel tree, const Capabilities& capabilities, const Decide& decide) {
  const uint32_t limit = capabilities.max_loop_trips;
  if (limit == 0 || !capabilities.software)
    return choose_templates(std::move(tree), capabilities, decide);
  Chosen out = choose_templates(tree, capabilities, decide);
  const Expr trips = loop_trips(out.kernel, limit);
  if (trips.max() <= limit) return out;
  // Too much for one register of threads: as other devices have it, with large workgroups.
  Capabilities many = capabilities;
  many.software = false;
  Chosen spread = choose_templates(std::move(tree), many, decide);
  return loop_trips(spread.kernel, limit).max() < trips.max() ? spread : out;
}

namespace {

Chosen choose_templates(Kernel tree, const Capabilities& capabilities, const Decide& decide) {
  std::vector<int> totals, nests;
  for (const Statement& s : tree.body) {
    if (s.kind == Statement::Kind::kLoop) nests.push_back(s.axis);
    if (s.kind == Statement::Kind::kReduce) totals.push_back(s.id);
  }
  ScheduleBuilder builder(std::move(tree), capabilities, decide);
  const bool threads = has_threads(capabilities), vectors = has_vectors(capabilities);
  for (const int id : totals) {
    if (vectors) schedule_reduction(builder, id);
    if (threads) schedule_total(builder, id);
  }
  for (const int axis : nests) {
    if (vectors) {
      if (!schedule_attention(builder, axis) && !schedule_attention_gradient(builder, axis) &&
          !schedule_softmax_rows(builder, axis) && !schedule_scatter(builder, axis) &&
          !schedule_scan(builder, axis) && !schedule_columns_once(builder, axis) &&
          !schedule_matmul(builder, axis))
        schedule_vector_nest(builder, axis);
    } else if (threads) {
      if (!schedule_attention(builder, axis)) schedule_threads_nest(builder, axis);
    } else {
      schedule_plain_nest(builder, axis);
    }
  }
  if (const auto& no = builder.refusal()) throw Error(no->kind, no->message);
  return {std::move(builder.kernel), std::move(builder.list)};
}

}  // namespace

}  // namespace tenon
