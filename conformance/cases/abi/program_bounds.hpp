// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the loops and scalars of random programs.
#pragma once

#include <utility>

#include "conformance/cases/abi/program_pool.hpp"

namespace tenon::conformance::abi {

struct LoopBounds {
  ProgramValue begin, end, step;
  bool uniform = true;  ///< the same for all threads
};

/// At most six iterations, or none; below zero, at the ends of the dtype, or as data says. An outer
/// loop may have more.
LoopBounds draw_bounds(Choices& choices, ProgramPool& pool, tn_dtype index, bool is_outer);

/// Of a SCALAR: all of the dtype, its high half too, or a few numbers; zeros if it is no integer.
std::pair<int64_t, int64_t> draw_scalar_bounds(Choices& choices, tn_dtype dtype);

}  // namespace tenon::conformance::abi
