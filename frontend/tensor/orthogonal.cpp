// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QR by reflections; eigenvalues and singular values by rotations.
#include <cmath>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/matrices.hpp"
#include "tenon/gradient.hpp"
#include "tenon/linalg.hpp"
#include "tenon/make.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

/// Sweeps over all pairs: convergence is quadratic at the end, and sizes count by their logarithm.
int64_t sweeps(const Tensor& x) {
  return (x.dtype() == DType::kF64 ? 7 : 5) + ceil_log2(dims_of(x)[2].max());
}

/// A round of a tournament of n players, n even: in n - 1 rounds each meets each. The last one
/// stays, the others' numbers add up to the round.
Tensor partners(const Tensor& round, const Tensor& player, const Dim& n) {
  const Tensor last = count_as(round, n - 1);
  const Tensor alone = round * count_as(round, floor_div(n, 2)) % last;  // would meet itself
  const Tensor other = (round - player + last) % last;
  return where(player == last, alone, where(player == alone, last, other));
}

/// Cosine and sine by which a rotation of p and q makes the off-diagonal element 0: Golub and Van
/// Loan, 8.5.2. `lower` is where p < q; the other one of a pair gets the opposite sine.
struct Rotation {
  Tensor cosine, sine;
};
Rotation rotation(const Tensor& own, const Tensor& others, const Tensor& off, const Tensor& first) {
  const Tensor none = off == 0;
  const Tensor tau = (others - own) / (where(none, 1, off) * 2);
  const Tensor size = tau.abs(), slope = (size + (tau.square() + 1).sqrt()).reciprocal();
  // Both of a pair must turn by one angle, also where tau is 0.
  const Tensor up = (tau > 0) | ((tau == 0) & first);
  const Tensor tangent = where(none, 0, where(up, slope, -slope));
  const Tensor cosine = (tangent.square() + 1).rsqrt();
  return {cosine, tangent * cosine};
}

Tensor columns_in_order(const Tensor& x, const Tensor& order) {
  return x.gather(2, order.expand_dims(1).broadcast_to(
                         to_sizes({dims_of(x)[0], dims_of(x)[1], dims_of(order)[1]})));
}

/// Hundreds of rotations, each rounded: one step of Newton and Schulz makes the product orthogonal
/// again.
Tensor orthogonal(const Tensor& v) {
  return v * 1.5 - v.matmul(v.matrix_transpose().matmul(v)) * 0.5;
}

/// One more row and column of zeros where n is odd.
Tensor even_sized(const Tensor& x, bool rows) {
  const Size more = size_of(mod(dims_of(x)[2], 2));
  return x.pad({{0, 0}, {0, rows ? more : Size(0)}, {0, more}});
}

/// What each matrix is divided by so that squares stay within its dtype: 1 in most cases.
Tensor scale_of(const Tensor& x) {
  const bool wide = x.dtype() == DType::kF64;
  const double low = wide ? 0x1p-400 : 0x1p-40, high = wide ? 0x1p400 : 0x1p40;
  const Tensor most = stop_gradient(x).abs().max({1, 2}, /*keepdims=*/true);
  const Tensor extreme = ((most > 0) & (most < low)) | ((most > high) & (most < INFINITY));
  return where(extreme, most, 1);
}

/// U of x [batch, m, n] with m >= n, and V^T.
SVD tall_svd(const Tensor& x) {
  const Size n = size_of(dims_of(x)[2]);
  const Tensor start = even_sized(x, false);
  const Dim even = dims_of(start)[2];
  Tensor turned = start, v = identity_like(x, even);
  if (n.maximum() > 1) {
    const Tensors results =
        loop(sweeps(x) * (even - 1), {start, v}, {},
             [&](const Tensor& t, const Tensors& carried, const Tensors&) {
               const Tensor& w = carried[0];
               const Tensor place =
                   positions(filled(w, to_sizes({dims_of(w)[0], even}), 0, DType::kI64), 1);
               const Tensor partner = partners(t % count_as(t, even - 1), place, even);
               const Tensor met = columns_in_order(w, partner);
               const Tensor norms = w.square().sum(1), products = (w * met).sum(1);
               // Columns that are orthogonal to working precision stay.
               const Tensor others = norms.gather(1, partner);
               const Rotation r = rotation(norms, others, products, place < partner);
               const Tensor c = r.cosine.expand_dims(1), s = r.sine.expand_dims(1);
               return Tensors{w * c - met * s,
                              carried[1] * c - columns_in_order(carried[1], partner) * s};
             });
    turned = results[0], v = orthogonal(results[1]);
  }
  turned = turned.slice({Slice{}, Slice{}, Slice{0, n}});
  v = v.slice({Slice{}, Slice{0, n}, Slice{0, n}});
  const Tensor order = argsort(turned.square().sum(1), 1, /*descending=*/true);
  // What was turned is U times the values: reflections find U, its null columns too.
  const QR split = qr(columns_in_order(turned, order));
  const Tensor diagonal = diagonal_of(split.r);
  const Tensor sign = where(diagonal < 0, constant_like(diagonal, -1), 1);
  return {split.q * sign.expand_dims(1), diagonal.abs(),
          columns_in_order(v, order).matrix_transpose()};
}

}  // namespace

QR qr(const Tensor& x) {
  const Tensor whole = matrices("qr", x), scale = scale_of(whole), a = whole / scale;
  const Dim rows = dims_of(a)[1], least = min(rows, dims_of(a)[2]);
  const Size k = size_of(least);
  const Tensors results =
      loop(least, {a, identity_like(a, rows)}, {},
           [](const Tensor& j, const Tensors& carried, const Tensors&) {
             const Tensor &r = carried[0], &q = carried[1];
             const Tensor column = column_at(r, j), i = positions(column, 1);
             const Tensor head = row_at(column, j);
             const Tensor below = where(i > j, column, 0).square().sum(1, /*keepdims=*/true);
             const Tensor done = below == 0;
             const Tensor length = where(done, 1, head.square() + below).sqrt();
             const Tensor first = head + where(head < 0, -length, length);
             const Tensor v = where(i > j, column, where(i == j, first, 0));
             const Tensor weight =
                 where(done, 0, constant_like(head, 2) / where(done, 1, first.square() + below));
             return Tensors{r - v * weight * (v * r).sum(1, /*keepdims=*/true),
                            q - (q * v.matrix_transpose()).sum(2, /*keepdims=*/true) * weight *
                                    v.matrix_transpose()};
           });
  return {unbatched(results[1].slice({Slice{}, Slice{}, Slice{0, k}}), x),
          unbatched(triu(results[0].slice({Slice{}, Slice{0, k}})) * scale, x)};
}

Eigen eigh(const Tensor& x) {
  const Tensor lower = square_matrices("eigh", x);
  const Size n = size_of(dims_of(lower)[1]);
  const Tensor a = tril(lower) + tril(lower, -1).matrix_transpose();
  Tensor turned = even_sized(a, true), v = identity_like(a, dims_of(turned)[1]);
  const Dim even = dims_of(turned)[1];
  if (n.maximum() > 1) {
    const Tensors results =
        loop(sweeps(a) * (even - 1), {turned, v}, {},
             [&](const Tensor& t, const Tensors& carried, const Tensors&) {
               const Tensor& w = carried[0];
               const Tensor place =
                   positions(filled(w, to_sizes({dims_of(w)[0], even}), 0, DType::kI64), 1);
               const Tensor partner = partners(t % count_as(t, even - 1), place, even);
               const Tensor own = diagonal_of(w);
               const Tensor off = w.gather(2, partner.expand_dims(-1)).squeeze(-1);
               const Rotation r = rotation(own, own.gather(1, partner), off, place < partner);
               const Tensor c = r.cosine.expand_dims(1), s = r.sine.expand_dims(1);
               const Tensor half = w * c - columns_in_order(w, partner) * s;
               return Tensors{half * c.matrix_transpose() -
                                  rows_in_order(half, partner) * s.matrix_transpose(),
                              carried[1] * c - columns_in_order(carried[1], partner) * s};
             });
    turned = results[0], v = orthogonal(results[1]);
  }
  const Tensor values = diagonal_of(turned.slice({Slice{}, Slice{0, n}, Slice{0, n}}));
  const Tensor order = argsort(values, 1);
  const Tensor vectors = columns_in_order(v.slice({Slice{}, Slice{0, n}, Slice{0, n}}), order);
  return {unbatched(values.gather(1, order), x), unbatched(vectors, x)};
}

SVD svd(const Tensor& x) {
  const Tensor whole = matrices("svd", x), scale = scale_of(whole), a = whole / scale;
  const Shape& sizes = dims_of(a);
  const bool wide = less(sizes[1], sizes[2]).is_const(1);
  TN_REQUIRE(wide || at_most(sizes[2], sizes[1]),
             "[svd] expected matrices of which it is known whether they are wide, got {}",
             to_string(dims_of(x)));
  const SVD found = tall_svd(wide ? a.matrix_transpose() : a);
  const Tensor u = wide ? found.vh.matrix_transpose() : found.u,
               vh = wide ? found.u.matrix_transpose() : found.vh;
  return {unbatched(u, x), unbatched(found.values * scale.squeeze(-1), x), unbatched(vh, x)};
}

Tensor lstsq(const Tensor& a, const Tensor& b, double cutoff) {
  TN_REQUIRE(a.rank() >= 2 && b.rank() >= 1,
             "[lstsq] expected [.., m, n] and [m] or [.., m, k], got ranks {} and {}", a.rank(),
             b.rank());
  const Tensor same = as_wide_as(b, a), right = b.rank() == 1 ? same.expand_dims(-1) : same;
  const Dim rows = count_over(a, {a.rank() - 2}), columns = count_over(a, {a.rank() - 1}),
            given = count_over(right, {right.rank() - 2});
  TN_REQUIRE(given == rows, "[lstsq] expected {} rows on the right side, got {}", to_string(rows),
             to_string(given));
  const Tensor left = as_real(as_wide_as(a, b));
  const SVD found = as_op("lstsq", [&] { return svd(left); });
  const double ulp = left.dtype() == DType::kF64 ? 0x1p-52 : 0x1p-23;
  const Tensor largest = found.values.max(-1, /*keepdims=*/true);
  const Tensor least =
      cutoff >= 0 ? constant_like(largest, cutoff) : count_as(largest, max(rows, columns)) * ulp;
  const Tensor counts = found.values > largest * least;
  const Tensor inverse = where(counts, where(counts, found.values, 1).reciprocal(), 0);
  const Tensor parts = found.u.matrix_transpose().matmul(as_real(right).astype(left.dtype())) *
                       inverse.expand_dims(-1);
  const Tensor x = rounded(found.vh.matrix_transpose().matmul(parts), real_dtype(as_wide_as(a, b)));
  return b.rank() == 1 ? x.squeeze(-1) : x;
}

}  // namespace tenon
