// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/heuristics/chained.hpp"

namespace tenon {
namespace {

bool follows(const KValueRef& v, const KernelAxis& axis) {
  return v->index.depends_on(axis.name) || v->mask.depends_on(axis.name);
}

}  // namespace

std::optional<Chained> find_chained(ScheduleBuilder& builder, int axis) {
  const std::vector<int> axes = builder.chain(builder.loop(axis));
  const std::vector<Statement>& body = builder.loop(axes.back()).body;
  if (body.front().kind != Statement::Kind::kReduce || body.front().states.size() != 1 ||
      body.front().states[0].op != Op::MAX || body.front().body.size() != 1 ||
      body.front().body[0].kind != Statement::Kind::kLoop)
    return std::nullopt;
  const Statement& row = body.front().body[0];
  if (row.body.size() != 2 || row.body[0].kind != Statement::Kind::kReduce) return std::nullopt;
  Chained out;
  out.keys = row.axis;
  const std::vector<KValueRef> operands = builder.loads(row.body[0]);
  if (operands.size() != 2) return std::nullopt;
  const KernelAxis& keys = builder.kernel.axes[out.keys];
  const bool first = follows(operands[0], keys);
  if (first == follows(operands[1], keys)) return std::nullopt;
  const KValueRef &key = operands[first ? 0 : 1], &query = operands[first ? 1 : 0];
  for (const int a : axes) {
    const KernelAxis& candidate = builder.kernel.axes[a];
    if (candidate.kind != AxisKind::kParallel) return std::nullopt;
    if (follows(query, candidate) && !follows(key, candidate)) out.queries = a;
  }
  if (out.queries < 0) return std::nullopt;
  for (const int a : axes)
    if (a != out.queries) out.batch.push_back(a);
  out.query_buffer = query->buffer;
  return out;
}

bool schedule_chained(ScheduleBuilder& builder, int axis) {
  const std::optional<Chained> found = find_chained(builder, axis);
  return found && builder.attempt([&](ScheduleBuilder& trial) {
    return trial.caps.max_workgroup_threads > 1 ? chained_on_threads(trial, *found)
                                                : chained_on_vectors(trial, *found, axis);
  });
}

std::vector<int> nests(const std::vector<Statement>& body) {
  std::vector<int> out;
  for (const Statement& s : body)
    if (s.kind == Statement::Kind::kLoop) out.push_back(s.axis);
  return out;
}

}  // namespace tenon
