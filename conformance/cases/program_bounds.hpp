// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the loops of random programs.
#pragma once

#include "conformance/cases/program_pool.hpp"

namespace tenon::conformance {

struct LoopBounds {
  ProgramValue begin, end, step;
  bool uniform = true;  ///< the same for all threads
};

/// At most six turns, or none; below zero, at the ends of the dtype, or as data says. An outer loop
/// may have more.
LoopBounds draw_bounds(Choices& choices, ProgramPool& pool, tn_dtype index, bool is_outer);

}  // namespace tenon::conformance
