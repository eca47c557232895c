// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of a kernel: operations, bytes and a text for people.
#pragma once

#include <string>

#include "core/reference/reference.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

struct KernelWork {
  std::string text;  ///< "mul reduce.add -> f32[64, 10]"
  double flops = 0;  ///< as core/ir/flops.hpp counts
  /// Bytes read and written, each element once. A sliced or gathered input counts the elements that
  /// are read, an output that is stored into the elements that change.
  double bytes = 0;
};

KernelWork work_of(const KernelCall& call, const SymbolValues& symbols);

}  // namespace tenon
