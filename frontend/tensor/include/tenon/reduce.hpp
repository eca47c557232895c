// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions; sum, prod, max, min and the plain mean are members of Tensor.
//
// All take any shape. No axes: all of them; several may be given; `keep` leaves them with size 1.
// Functions of real numbers take integers and bools as f32; f16, bf16 and fp8 are computed in f32
// and rounded once. NaN in, NaN out, as in NumPy. An axis that is not there, or is named twice,
// throws kInvalid.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

// Questions: anything that is not 0 is true, NaN too. Of no elements: false, true, 0.
TENON_API Tensor any(const Tensor& x, std::vector<int> axes = {}, bool keep = false);
TENON_API Tensor all(const Tensor& x, std::vector<int> axes = {}, bool keep = false);
TENON_API Tensor count_nonzero(const Tensor& x, std::vector<int> axes = {},
                               bool keep = false);  ///< i64

/// Position of the largest, i64: the first of equals, the first NaN if there is one. No axis: in
/// the flattened tensor. Throws for an empty axis.
TENON_API Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keep = false);
TENON_API Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keep = false);

TENON_API Tensor mean(const Tensor& x, std::vector<int> axes = {}, bool keep = false);
/// Sum of squared distances from the mean, divided by the count less `ddof`, or by 0 where that is
/// less: 0 is the population's variance, 1 the sample's.
TENON_API Tensor var(const Tensor& x, std::vector<int> axes = {}, bool keep = false,
                     double ddof = 0);
TENON_API Tensor stddev(const Tensor& x, std::vector<int> axes = {}, bool keep = false,
                        double ddof = 0);  ///< the root of `var`
/// max - min. Throws for no elements.
TENON_API Tensor ptp(const Tensor& x, std::vector<int> axes = {}, bool keep = false);

/// (sum of |x|^p)^(1/p); p = Inf: the largest |x|; -Inf: the smallest; 0: how many are not 0. Its
/// gradient at 0 is 0. Throws for p = NaN, and for no elements where p is not above 0 and finite.
TENON_API Tensor norm(const Tensor& x, double p = 2, std::vector<int> axes = {}, bool keep = false);

/// ln(sum of e^x), without overflow: max + ln(sum of e^(x - max)). -Inf of no elements.
TENON_API Tensor logsumexp(const Tensor& x, std::vector<int> axes = {}, bool keep = false);
/// x - logsumexp(x), in the shape of x.
TENON_API Tensor log_softmax(const Tensor& x, std::vector<int> axes = {-1});

/// Between two neighbours in the sorted order, where q * (n - 1) falls between them.
enum class Quantile : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };
/// The value below which a part q of the elements lies: at q * (n - 1) in their order (method 7 of
/// Hyndman and Fan, 1996). kNearest takes the even neighbour in the middle. Throws for q outside
/// [0, 1] and for no elements. Several q give a new first axis. It sorts.
TENON_API Tensor quantile(const Tensor& x, double q, std::vector<int> axes = {}, bool keep = false,
                          Quantile method = Quantile::kLinear);
TENON_API Tensor quantile(const Tensor& x, const std::vector<double>& q, std::vector<int> axes = {},
                          bool keep = false, Quantile method = Quantile::kLinear);
TENON_API Tensor median(const Tensor& x, std::vector<int> axes = {},
                        bool keep = false);  ///< quantile 1/2

}  // namespace tenon
