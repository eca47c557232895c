// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/heuristics/heuristics.hpp"

#include "core/kernel/heuristics/schedule_builder.hpp"

namespace tenon {

namespace {

bool has_threads(const Capabilities& capabilities) {
  return capabilities.max_workgroup_threads > 1;
}
bool has_vectors(const Capabilities& capabilities) {
  return !has_threads(capabilities) && capabilities.vector_bytes > 1 &&
         capabilities.has(Op::BROADCAST);
}

}  // namespace

bool is_chained(Kernel tree, const Capabilities& capabilities) {
  if (!has_vectors(capabilities) || tree.body.size() != 1 ||
      tree.body[0].kind != Statement::Kind::kLoop)
    return false;
  const int axis = tree.body[0].axis;
  const Decide by_rule;
  ScheduleBuilder builder(std::move(tree), capabilities, by_rule);
  return (schedule_chained(builder, axis) || schedule_recomputed(builder, axis)) &&
         !builder.refusal();
}

Chosen choose_transforms(Kernel tree, const Capabilities& capabilities, const Decide& decide) {
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
      if (!schedule_chained(builder, axis) && !schedule_recomputed(builder, axis) &&
          !schedule_columns_once(builder, axis) && !schedule_matmul(builder, axis))
        schedule_vector_nest(builder, axis);
    } else if (threads) {
      schedule_threads_nest(builder, axis);
    } else {
      schedule_plain_nest(builder, axis);
    }
  }
  if (const auto& no = builder.refusal()) throw Error(no->kind, no->message);
  return {std::move(builder.kernel), std::move(builder.list)};
}

}  // namespace tenon
