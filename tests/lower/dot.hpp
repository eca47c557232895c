// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a DOT gives, by the scalar ops of its sum.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/program/view.hpp"

namespace tenon::test {

/// Lanes of the sum, of those of the operands.
std::vector<uint64_t> dot(const sdk::ProgramView& program, const tn_op& op,
                          const std::vector<uint64_t>& x, const std::vector<uint64_t>& y,
                          const std::vector<uint64_t>& z);

}  // namespace tenon::test
