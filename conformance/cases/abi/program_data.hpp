// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the buffers and scalars of a random program hold before it runs, as a function of a seed.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenon/program.h"

namespace tenon::conformance::abi {

/// What is known of a float of a program without running it: a multiple of 2^-unit, of magnitude
/// up to `bound`. A dtype that holds it makes sums, products and comparisons exact, so every
/// profile gives the same bits.
struct Exact {
  double bound = 0;
  int unit = 0;
};
bool holds(uint8_t dtype, const Exact& exact);

/// Of each float that `program_input` makes.
Exact input_exact(uint8_t dtype);
/// Element `i` of the param of a name. Integers take any bits, extremes often; seed 0 gives zeros.
/// Where the name begins with edge_, it is a boundary value of the dtype
/// (graphs/boundary_values.hpp); with mixed_ every second one is any integer, or a float with all
/// its digits; with small_ or large_ a float is a whole number up to 2, or 127.
uint64_t program_input(uint64_t seed, std::string_view name, uint8_t dtype, uint64_t i);
/// The value of a SCALAR param, within its bounds.
uint64_t program_scalar(uint64_t seed, std::string_view name, const tn_param& param);

}  // namespace tenon::conformance::abi
