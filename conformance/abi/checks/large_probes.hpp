// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs with much of one thing: arguments, lanes, iterations, ops.
#pragma once

#include <cstdint>

#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::checks {

/// Every scalar is stored to a buffer, and every buffer has its number added to what it holds.
sdk::Program arguments_program(tn_dtype dtype, uint32_t buffers, uint32_t scalars);
/// Loads, computes, takes apart and stores vectors, masked and whole.
sdk::Program lanes_program(tn_dtype dtype, uint16_t lanes);
/// A sum that no other number of iterations gives, and the last value of the counter.
sdk::Program iterations_program(uint32_t iterations);
/// An i64 counter: what it was in each iteration.
sdk::Program counter_program(int64_t begin, int64_t end, int64_t step);
/// A chain of about so many ops, each on the one before, and the last on the first.
sdk::Program ops_program(uint32_t ops);
/// Regions in each other: IFs that most threads enter, and loops of one iteration.
sdk::Program deep_program(uint32_t ifs, uint32_t loops);
/// IFs in each other, `depth` deep, each on another bit of the thread's number, with both sides.
sdk::Program branches_program(uint32_t depth, uint32_t threads);
/// Each of `threads` fills `count` u32 of memory of its own, and stores what it finds there.
sdk::Program scratch_program(uint32_t threads, uint32_t count);

}  // namespace tenon::conformance::abi::checks
