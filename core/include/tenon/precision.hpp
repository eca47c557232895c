// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How exactly the factors of a contraction are multiplied.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// What the f32 factors of the products that a REDUCE.ADD sums may be cut to before they are
/// multiplied, as some matrix units do: a permission, never a command. kDefault is what the Context
/// says, else nothing is cut; kExact asks that dot products of narrow floats flush nothing either.
enum class Precision : uint8_t { kDefault, kExact, kTf32, kBf16 };

TENON_API std::string_view precision_name(Precision precision);  ///< "tf32"; "default"
/// Of "exact", "tf32" and "bf16".
TENON_API std::optional<Precision> precision_from_name(std::string_view name);
/// Significant bits that a factor keeps: 11 of tf32, 8 of bf16, 0 for all of them.
int factor_bits(Precision precision);

}  // namespace tenon
