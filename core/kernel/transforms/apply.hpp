// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files that apply transforms share; transform.hpp is for everyone else.
#pragma once

#include "core/kernel/transforms/transform.hpp"
#include "core/support/error.hpp"

namespace tenon {

struct TransformStep {
  Kernel& kernel;
  const Transform& transform;

  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const;
  int axis(size_t i) const;       ///< names[i], which must have a loop
  int free_axis(size_t i) const;  ///< and must not be bound
};

/// Both return or leave the kernel whole: every check comes before the first change.
int split_axis(Kernel& kernel, int axis, int64_t factor);  ///< gives the inner axis
void apply_jam(const TransformStep& step);
void apply_bind(const TransformStep& step);
void apply_group(const TransformStep& step);
void apply_stage(const TransformStep& step);
void apply_keep(const TransformStep& step);
void apply_tensorize(const TransformStep& step);

}  // namespace tenon
