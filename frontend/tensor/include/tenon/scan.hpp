// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running sums, products and extremes along an axis, in linear work.
//
// Each element becomes the combination of those up to and with it. Any shape, which stays; no axis:
// of the flattened tensor. Blocks of a few elements are combined in themselves, their totals by the
// same function again (Blelloch, "Prefix sums and their applications", 1990). Integers are exact
// and wrap; bools count as i64, but stay bools under cummax and cummin; f16, bf16 and fp8 are
// combined in f32 and rounded once. An axis that is not there throws kInvalid.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

TENON_API Tensor cumsum(const Tensor& x, std::optional<int> axis = {});
TENON_API Tensor cumprod(const Tensor& x, std::optional<int> axis = {});
TENON_API Tensor cummax(const Tensor& x, std::optional<int> axis = {});  ///< NaN from the first on
TENON_API Tensor cummin(const Tensor& x, std::optional<int> axis = {});
/// ln of the running sum of e^x, without overflow. Integers are taken as f32.
TENON_API Tensor logcumsumexp(const Tensor& x, std::optional<int> axis = {});

}  // namespace tenon
