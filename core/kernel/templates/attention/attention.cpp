// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/templates/attention/attention.hpp"

namespace tenon {

bool depends_on(const KValueRef& v, const KernelAxis& axis) {
  return v->index.depends_on(axis.name) || v->mask.depends_on(axis.name);
}

std::optional<AttentionAxes> find_attention(ScheduleBuilder& builder, int axis) {
  const std::vector<int> axes = builder.perfect_nest(builder.loop(axis));
  const std::vector<Statement>& body = builder.loop(axes.back()).body;
  if (body.front().kind != Statement::Kind::kReduce || body.front().states.size() != 1 ||
      body.front().states[0].op != Op::MAX || body.front().body.size() != 1 ||
      body.front().body[0].kind != Statement::Kind::kLoop)
    return std::nullopt;
  const Statement& row = body.front().body[0];
  if (row.body.size() != 2 || row.body[0].kind != Statement::Kind::kReduce) return std::nullopt;
  AttentionAxes out;
  out.keys = row.axis;
  const std::vector<KValueRef> operands = builder.loads(row.body[0]);
  if (operands.size() != 2) return std::nullopt;
  const KernelAxis& keys = builder.kernel.axes[out.keys];
  const bool first = depends_on(operands[0], keys);
  if (first == depends_on(operands[1], keys)) return std::nullopt;
  const KValueRef &key = operands[first ? 0 : 1], &query = operands[first ? 1 : 0];
  for (const int a : axes) {
    const KernelAxis& candidate = builder.kernel.axes[a];
    if (candidate.kind != AxisKind::kParallel) return std::nullopt;
    const bool is_row = depends_on(query, candidate) && !depends_on(key, candidate);
    (is_row ? out.rows : out.batch).push_back(a);
  }
  return out;
}

bool schedule_attention(ScheduleBuilder& builder, int axis) {
  const std::optional<AttentionAxes> found = find_attention(builder, axis);
  return found && builder.attempt([&](ScheduleBuilder& trial) {
    if (!trial.caps.has_threads()) return attention_on_vectors(trial, *found, axis);
    return attention_on_matrix_units(trial, *found) || attention_on_threads(trial, *found);
  });
}

int queries_of(const ScheduleBuilder& builder, const AttentionAxes& found, int64_t least) {
  int out = -1;
  for (const int a : found.rows)
    if (builder.size(a) >= least) out = a;
  return out;
}

std::vector<int> loops_around(const AttentionAxes& found, int queries) {
  std::vector<int> out = found.batch;
  for (const int a : found.rows)
    if (a != queries) out.push_back(a);
  return out;
}

void bind_workgroups(ScheduleBuilder& builder, int tiles, const std::vector<int>& around) {
  bind_grid(builder, tiles, 1);
  const std::vector<int> batch = builder.fuse_contiguous(around);
  if (!batch.empty()) bind_grid(builder, batch.back(), 1, Bind::kGridY);
  if (batch.size() > 1) bind_grid(builder, batch[batch.size() - 2], 1, Bind::kGridZ);
}

std::vector<int> nests(const std::vector<Statement>& body) {
  std::vector<int> out;
  for (const Statement& s : body)
    if (s.kind == Statement::Kind::kLoop) out.push_back(s.axis);
  return out;
}

AttentionParts attention_parts(ScheduleBuilder& builder, int at) {
  AttentionParts out;
  for (const int a : nests(builder.loop(at).body)) {
    if (builder.kernel.axes[a].kind == AxisKind::kOrdered)
      out.blocks = a;
    else
      out.ends.push_back(a);
  }
  for (const Statement& s : builder.loop(out.blocks).body)
    if (s.kind != Statement::Kind::kStore) out.block_parts.push_back(&s);
  return out;
}

const Statement* reduction_in(const Statement& part) {
  if (part.kind == Statement::Kind::kReduce) return &part;
  for (const Statement& s : part.body)
    if (const Statement* found = reduction_in(s)) return found;
  return nullptr;
}

}  // namespace tenon
