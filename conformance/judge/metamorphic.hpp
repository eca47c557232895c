// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metamorphic relations: another case whose outputs hold the same elements, so that the first
// case's expectation judges both. What differs is the way there: strides, offsets, shapes, what is
// fused with what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"
#include "core/interval/interval.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::judge {

struct Variant {
  std::string relation;  ///< "input 1 flipped and back"
  Case test;
  /// Where the elements of each output stand in the plain case's output; nothing: in their places.
  /// Outputs beyond the plain case's are not looked at.
  std::vector<std::optional<std::vector<int64_t>>> places;
};

/// The variant that the seed draws; nothing where the relation does not fit the case. Equal seeds
/// and graphs give equal graphs.
std::optional<Variant> draw_variant(const Case& test, uint64_t seed, const Profile& profile,
                                    Builder& builder);

/// The plain case's outputs with what the variant gave put in their place.
std::vector<Array> restored(const Variant& variant, const std::vector<Array>& plain,
                            const std::vector<Array>& got);

/// Every float input times 2^k.
struct Scaling {
  Case test;
  std::vector<int> exponents;  ///< of each output, which is plain times 2^exponent, to the bit
};

/// Where each output is homogeneous in the float inputs, and nothing comes near overflow or
/// subnormals.
std::optional<Scaling> draw_scaling(const Case& test, uint64_t seed);

/// Multiplied by powers of two.
std::vector<Array> scaled(const std::vector<Array>& outputs, const std::vector<int>& exponents);

}  // namespace tenon::conformance::judge
