// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear algebra over the last two axes; axes before them are a batch.
//
// Products take any dtype, and two that differ promote. Factorisations want f32 or f64 (f16, bf16
// and fp8 are computed in f32 and rounded once; integers become f32), and go column by column in a
// LOOP of the IR: O(n^3) work and a graph whose size does not depend on n. A singular matrix gives
// Inf or NaN, as in JAX, and does not throw; wrong shapes throw kInvalid. Matrices without elements
// are allowed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Einstein's sum: "ij,jk->ik", "...ij->...ji", "ii" (implicit output: labels that occur once, in
/// the order of the alphabet). Pairs are contracted as matrix products in the order that takes the
/// fewest multiplications (all orders up to five tensors; of more, the pair first that frees most
/// elements). Throws for what is no such text, for sizes that differ, and for a wrong count of
/// tensors.
TENON_API Tensor einsum(const std::string& text, const std::vector<Tensor>& tensors);

TENON_API Tensor dot(const Tensor& a, const Tensor& b);    ///< last of a with second last of b
TENON_API Tensor outer(const Tensor& a, const Tensor& b);  ///< of the flattened tensors: [m, n]
TENON_API Tensor kron(const Tensor& a, const Tensor& b);   ///< Kronecker's, of any ranks
/// The sum of a diagonal, in the dtype of `sum`.
TENON_API Tensor trace(const Tensor& x, int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                       std::optional<DType> dtype = {});
/// Over the last `axes` of a and the first of b, or over axes of a with axes of b.
TENON_API Tensor tensordot(const Tensor& a, const Tensor& b, int axes = 2);
TENON_API Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a,
                           const Axes& axes_b);
TENON_API Tensor matrix_power(const Tensor& x, int64_t power);  ///< negative: of the inverse

/// L with x = L L^T, lower. Reads the lower triangle; NaN where x is not positive definite.
TENON_API Tensor cholesky(const Tensor& x);
/// X with A X = b [.., n, k]; reads one triangle of A, and with `unit` not its diagonal.
TENON_API Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower = false,
                                  bool unit = false);
struct LU {
  Tensor permutation;  ///< i64 [.., m]: x[permutation] = lower upper
  Tensor lower;        ///< [.., m, min(m, n)], ones on the diagonal
  Tensor upper;        ///< [.., min(m, n), n]
};
/// By rows exchanged for the largest pivot, the first of equals.
TENON_API LU lu(const Tensor& x);
/// X with A X = b. b is [n] or [.., n, k], as in NumPy 2.
TENON_API Tensor solve(const Tensor& a, const Tensor& b);
TENON_API Tensor inv(const Tensor& x);
TENON_API Tensor det(const Tensor& x);
struct SignLogDet {
  Tensor sign;  ///< -1, 0 or 1, [..]
  Tensor log;   ///< ln |det(x)|, -Inf for 0
};
/// The determinant where it is beyond the dtype.
TENON_API SignLogDet slogdet(const Tensor& x);

struct QR {
  Tensor q;  ///< [.., m, min(m, n)], orthonormal columns
  Tensor r;  ///< [.., min(m, n), n], upper
};
/// By Householder's reflections, with LAPACK's signs.
TENON_API QR qr(const Tensor& x);

struct Eigen {
  Tensor values;   ///< [.., n], ascending
  Tensor vectors;  ///< [.., n, n], columns
};
/// Of a symmetric x, of which the lower triangle is read: Jacobi's rotations, n/2 disjoint ones at
/// a time (Golub and Van Loan, Matrix Computations, 8.5), for a fixed count of sweeps.
TENON_API Eigen eigh(const Tensor& x);

struct SVD {
  Tensor u;       ///< [.., m, min(m, n)]
  Tensor values;  ///< [.., min(m, n)], descending
  Tensor vh;      ///< [.., min(m, n), n]
};
/// By rotations of columns (Hestenes, 1958), for a fixed count of sweeps.
TENON_API SVD svd(const Tensor& x);
/// The X of least norm among those that minimise |A X - b|; singular values below `cutoff` times
/// the largest count as 0 (default: ULP times the larger size). b is [m] or [.., m, k].
TENON_API Tensor lstsq(const Tensor& a, const Tensor& b, double cutoff = -1);

/// e^x by Pade's approximant of degree 13 and up to 24 squarings (Higham, 2005): of |x|_1 < 10^7.
TENON_API Tensor expm(const Tensor& x);

}  // namespace tenon
