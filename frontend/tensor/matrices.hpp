// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What factorisations are written with. Internal to the library.
#pragma once

#include <functional>

#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {

using Tensors = std::vector<Tensor>;

/// A LOOP: carried tensors after `trips` times body(i, carried, captured), i an i64 of shape [].
Tensors loop(const Dim& trips, const Tensors& carried, const Tensors& captured,
             const std::function<Tensors(const Tensor& i, const Tensors& carried,
                                         const Tensors& captured)>& body);

/// [.., m, n] as a real [batch, m, n], and a result of such a batch back in x's shape and dtype.
/// Throws for ranks below 2.
Tensor matrices(const char* op, const Tensor& x);
Tensor unbatched(const Tensor& result, const Tensor& x);
/// The same, where m = n is asked for.
Tensor square_matrices(const char* op, const Tensor& x);

/// Column, row or element i of each matrix: [batch, m, 1], [batch, 1, n]; i is i64 [].
Tensor column_at(const Tensor& x, const Tensor& i);
Tensor row_at(const Tensor& x, const Tensor& i);
/// Rows of each matrix in the order of an index [batch, m].
Tensor rows_in_order(const Tensor& x, const Tensor& order);
/// Ones on the diagonal.
Tensor identity_like(const Tensor& x, const Dim& n);
/// [batch, n]
Tensor diagonal_of(const Tensor& x);
/// x in f64 where the other is: the two meet there.
inline Tensor as_wide_as(const Tensor& x, const Tensor& other) {
  return other.dtype() == DType::kF64 ? x.astype(DType::kF64) : x;
}

/// Both with the batch that they broadcast to.
std::pair<Tensor, Tensor> with_one_batch(const char* op, const Tensor& a, const Tensor& b);

}  // namespace tenon
