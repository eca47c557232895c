// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/loop_trips.hpp"

#include <algorithm>

namespace tenon {
namespace {

/// Tests at loop ends. A loop is emitted as a part without masks and one with masks; each has one
/// more test, and a branch may hold the loop twice.
constexpr int64_t kEnds = 4;

class Trips {
 public:
  Trips(const Kernel& kernel, uint32_t limit)
      : kernel_(kernel), most_(std::min<int64_t>(limit, 1 << 30) + 1) {}

  Expr of(std::span<const Statement> body, int64_t copies) const {
    Expr sum = 0;
    for (const Statement& s : body) sum = min(sum + of(s, copies), most_);
    return sum;
  }

 private:
  Expr of(const Statement& s, int64_t copies) const {
    if (s.kind != Statement::Kind::kLoop) {
      // The loops after a matrix reduction run once for each unrolled copy.
      const bool repeats = s.kind == Statement::Kind::kMatrix;
      return of(s.body, copies) * (repeats ? copies : 1);
    }
    const KernelAxis& axis = kernel_.axes[s.axis];
    Expr inside = of(s.body, axis.bind == Bind::kUnroll ? copies * axis.extent.value() : copies);
    if (axis.bind != Bind::kLoop || axis.extent.is_const(1)) return inside;
    return min(axis.extent, most_) * (inside + 1) + kEnds;
  }

  const Kernel& kernel_;
  const int64_t most_;
};

}  // namespace

Expr loop_trips(const Kernel& kernel, uint32_t limit) {
  const Trips trips(kernel, limit);
  Expr most = 0, loops = 0;
  for (const std::span<const Statement> section : sections_of(kernel)) {
    most = max(most, trips.of(section, 1));
    walk(std::vector<Statement>(section.begin(), section.end()),
         [&](const Statement& s) { loops = loops + (s.kind == Statement::Kind::kLoop ? 1 : 0); });
  }
  // A section's workgroups also test each loop of the other sections once.
  return kernel.sections.empty() ? most : most + loops;
}

}  // namespace tenon
