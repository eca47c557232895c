// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops as the variants compute them.
#pragma once

#include "conformance/selftest/plugin/variants.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon::planted {

/// What the op is in this variant: `plain`, the right one, unless the variant says otherwise.
sdk::ScalarFunction function_of(Variant variant, const sdk::ProgramView& program, const tn_op& op,
                                sdk::ScalarFunction plain);

/// A sum of f32, f16 or bf16 bits, kept as bf16.
uint64_t add_in_bf16(uint64_t a, uint64_t b);

/// x * y + z of the dtype's bits, rounded once; f32 and f64.
uint64_t fused(uint8_t dtype, uint64_t x, uint64_t y, uint64_t z);

}  // namespace tenon::planted
