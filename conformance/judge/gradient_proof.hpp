// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the core's gradient of a graph is right: on the reference, in f64, against central
// differences and against the product in forward direction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::judge {

enum class Proof : uint8_t {
  kProven,
  kNoGradient,  ///< no float output depends on a float param, or there is a bit cast of floats
  kNotFinite,   ///< the gradient is infinite or NaN there
  kNotSmooth,   ///< differences of several steps do not agree: a jump or a kink is near
  kWrong,
};
inline constexpr std::string_view kProofNames[] = {"proven", "no gradient", "not finite",
                                                   "not smooth", "wrong"};

struct GradientProof {
  Proof proof = Proof::kNoGradient;
  std::string reason;  ///< of kWrong
};

/// Along a direction and with seeds drawn from `seed`. Differences and the gradient may differ by
/// 1e-6 of the sum of the absolute terms (of 1e-3 if that is more), both directions by 1e-9 of it.
GradientProof prove_gradient(const Case& test, uint64_t seed, Builder& builder);

}  // namespace tenon::conformance::judge
