// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs written for one question each, for checks: what is kept of wide constants and scalars,
// whether shared memory and workgroups are as large as claimed.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "conformance/abi/checks/check.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::checks {

inline constexpr uint32_t kReadWrite = TN_ACCESS_READ | TN_ACCESS_WRITE;

inline sdk::ProgramBuilder::Value i32_constant(sdk::ProgramBuilder& b, int64_t n) {
  return b.constant(TN_DTYPE_I32, static_cast<uint32_t>(static_cast<int32_t>(n)));
}

/// Each thread writes its own words of `arrays` shared arrays of about equal size, `words` u32 in
/// all, every word another, made of numbers from `number_of_first` on; after a barrier the others'
/// words go to the output.
sdk::Program shared_program(uint32_t words, uint32_t arrays, uint32_t threads,
                            uint32_t number_of_first = 1);
/// out[number of the thread] = its coordinates.
sdk::Program shape_program(const uint32_t (&workgroup)[3]);
/// Several SCALAR params of a dtype, and each at a place of its own in the output.
sdk::Program scalar_program(tn_dtype dtype, uint32_t scalars);
/// The same, which say by turns that they lie in these ranges, both ends included.
using ScalarRange = std::pair<int64_t, int64_t>;
sdk::Program scalar_program(tn_dtype dtype, uint32_t scalars, std::span<const ScalarRange> ranges);
/// Constants whose bits differ in every byte; `data` is the output's dtype.
sdk::Program constant_program(tn_dtype dtype);

/// Threads of one workgroup that are claimed, in x alone.
uint32_t most_threads(const tn_properties& properties, uint32_t most);

/// Null where the device does not claim what it needs, or does not take it.
ExecutableHandle compile_claimed(const OpenDevice& device, const sdk::Program& program,
                                 const uint32_t (&grid)[3]);

/// Runs it and compares every byte with what it means (program_runner.hpp). Answers whether the
/// device claims what it needs.
bool run_probe(const OpenDevice& device, const sdk::Program& program, bool reloaded,
               uint32_t groups = 1);

}  // namespace tenon::conformance::abi::checks
