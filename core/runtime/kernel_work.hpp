// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel does, in numbers and for people.
#pragma once

#include <string>

#include "core/reference/reference.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

struct KernelWork {
  std::string text;  ///< "mul reduce.add -> f32[64, 10]"
  double flops = 0;  ///< as core/ir/flops.hpp counts
  /// What has to be read and written: each element once, of what is only sliced or gathered from no
  /// more than that, of what is stored into no more than what changes.
  double bytes = 0;
};

KernelWork work_of(const KernelCall& call, const SymbolValues& symbols);

}  // namespace tenon
