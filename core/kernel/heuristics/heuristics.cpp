// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/heuristics/heuristics.hpp"

#include "core/kernel/heuristics/schedule_builder.hpp"

namespace tenon {

TransformList choose_transforms(const Kernel& kernel, const Capabilities& capabilities) {
  ScheduleBuilder book(kernel, capabilities);
  const bool threads = capabilities.max_workgroup_threads > 1;
  const bool vectors = !threads && capabilities.vector_bytes > 1 && capabilities.has(Op::BROADCAST);
  std::vector<int> totals;
  std::vector<int> nests;
  for (const Statement& s : kernel.body) {
    if (s.kind == Statement::Kind::kLoop) nests.push_back(s.axis);
    if (s.kind == Statement::Kind::kReduce && vectors) schedule_reduction(book, s.id);
    if (s.kind == Statement::Kind::kReduce) totals.push_back(s.id);
  }
  if (threads)
    for (const int id : totals) schedule_total(book, id);
  for (const int axis : nests) {
    if (vectors) {
      if (!schedule_matmul(book, axis)) schedule_vector_nest(book, axis);
    } else if (threads) {
      schedule_threads_nest(book, axis);
    } else {
      schedule_plain_nest(book, axis);
    }
  }
  return std::move(book.list);
}

}  // namespace tenon
