// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cholesky, LU, triangular systems and what follows from them.
#include "core/support/error.hpp"
#include "frontend/tensor/matrices.hpp"
#include "tenon/linalg.hpp"
#include "tenon/make.hpp"

namespace tenon {
namespace {

/// [batch, n, n] and [batch, n, k], from the first row on: row j is done, and taken from those
/// below it.
Tensor forward_substitution(const Tensor& a, const Tensor& b, bool unit) {
  return loop(
      dims_of(a)[1], {b}, {a}, [&](const Tensor& j, const Tensors& carried, const Tensors& fixed) {
        const Tensor &x = carried[0], &m = fixed[0];
        const Tensor column = column_at(m, j), pivot = row_at(column, j), right = row_at(x, j);
        const Tensor done = unit ? right : right / pivot;
        const Tensor row = positions(x, 1);
        return Tensors{where(row == j, done, where(row > j, x - column * done, x))};
      })[0];
}

Tensor solve_rows(const Tensor& a, const Tensor& b, bool lower, bool unit) {
  if (lower) return forward_substitution(a, b, unit);
  return forward_substitution(a.flip({1, 2}), b.flip(1), unit).flip(1);
}

struct Packed {
  Tensor factors;      ///< lower below the diagonal, upper from it on
  Tensor permutation;  ///< i64 [batch, m]
  Tensor swaps;        ///< i64 [batch, 1], how many rows changed places
};

Packed factor(const Tensor& x) {
  const Shape& shape = dims_of(x);
  const Tensor order = positions(filled(x, to_sizes({shape[0], shape[1]}), 0, DType::kI64), 1);
  const Tensor none = filled(x, to_sizes({shape[0], Dim(1)}), 0, DType::kI64);
  if (product(shape).is_const(0)) return {x, order, none};
  const Tensors results =
      loop(min(shape[1], shape[2]), {x, order, none}, {},
           [](const Tensor& j, const Tensors& carried, const Tensors&) {
             const Tensor& a = carried[0];
             const Tensor column = column_at(a, j).squeeze(-1);  // [batch, m]
             const Tensor place = positions(column, 1);
             const Tensor best = where(place < j, -1, column.abs()).argmax(1, /*keepdims=*/true);
             const Tensor swapped = where(place == j, best, where(place == best, j, place));
             const Tensor rows = rows_in_order(a, swapped);
             const Tensor left = column_at(rows, j), top = row_at(rows, j), pivot = row_at(left, j);
             // A column of zeros is left as it is.
             const Tensor factor = left / where(pivot == 0, 1, pivot);
             const Tensor i = positions(a, 1), k = positions(a, 2);
             const Tensor inner = where(k == j, factor, where(k > j, rows - factor * top, rows));
             return Tensors{where(i > j, inner, rows), carried[1].gather(1, swapped),
                            carried[2] + (best != j).astype(DType::kI64)};
           });
  return {results[0], results[1], results[2]};
}

/// b as columns beside a: a vector where its rank is 1.
Tensor as_columns(const char* op, const Tensor& a, const Tensor& b) {
  TN_REQUIRE(b.rank() >= 1, "[{}] expected a right side [m] or [.., m, k], got rank 0", op);
  Tensor columns = b.rank() == 1 ? b.expand_dims(-1) : b;
  const Shape &rows = dims_of(a), &right = dims_of(columns);
  TN_REQUIRE(a.rank() >= 2 && right[right.size() - 2] == rows[rows.size() - 2],
             "[{}] expected [.., m, n] and [m] or [.., m, k], got {} and {}", op, to_string(rows),
             to_string(dims_of(b)));
  return columns;
}

}  // namespace

Tensor cholesky(const Tensor& x) {
  const Tensor a = square_matrices("cholesky", x);
  const Tensor full =
      loop(dims_of(a)[1], {a}, {}, [](const Tensor& j, const Tensors& carried, const Tensors&) {
        const Tensor& m = carried[0];
        const Tensor column = column_at(m, j), root = row_at(column, j).sqrt();
        const Tensor l = column / root;
        const Tensor i = positions(m, 1), k = positions(m, 2);
        const Tensor inner = where(k > j, m - l * l.matrix_transpose(), m);
        return Tensors{where(i >= j, where(k == j, l, where(i > j, inner, m)), m)};
      })[0];
  return unbatched(tril(full), x);
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower, bool unit) {
  const auto [left, right] = with_one_batch("solve_triangular", as_wide_as(a, b),
                                            as_columns("solve_triangular", a, as_wide_as(b, a)));
  const Tensor m = square_matrices("solve_triangular", left);
  const Tensor x =
      solve_rows(m, matrices("solve_triangular", right).astype(m.dtype()), lower, unit);
  const Tensor result = unbatched(x, right);
  return b.rank() == 1 ? result.squeeze(-1) : result;
}

LU lu(const Tensor& x) {
  const Tensor a = matrices("lu", x);
  const Size k = size_of(min(dims_of(a)[1], dims_of(a)[2]));
  const Packed packed = factor(a);
  const Tensor lower = tril(packed.factors.slice({Slice{}, Slice{}, Slice{0, k}}), -1);
  const Tensor ones = where(positions(lower, 1) == positions(lower, 2), 1, lower);
  const Tensor upper = triu(packed.factors.slice({Slice{}, Slice{0, k}}));
  return {unbatched(packed.permutation, x), unbatched(ones, x), unbatched(upper, x)};
}

Tensor solve(const Tensor& a, const Tensor& b) {
  const auto [left, right] =
      with_one_batch("solve", as_wide_as(a, b), as_columns("solve", a, as_wide_as(b, a)));
  const Tensor m = square_matrices("solve", left);
  const Packed packed = factor(m);
  const Tensor ordered =
      rows_in_order(matrices("solve", right).astype(m.dtype()), packed.permutation);
  const Tensor y = solve_rows(packed.factors, ordered, /*lower=*/true, /*unit=*/true);
  const Tensor result = unbatched(solve_rows(packed.factors, y, false, false), right);
  return b.rank() == 1 ? result.squeeze(-1) : result;
}

Tensor inv(const Tensor& x) {
  const Tensor a = square_matrices("inv", x);
  return unbatched(solve(a, identity_like(a, dims_of(a)[1])), x);
}

Tensor det(const Tensor& x) {
  const Packed packed = factor(square_matrices("det", x));
  const Tensor product = diagonal_of(packed.factors).prod(1, /*keepdims=*/true);
  return unbatched(where(packed.swaps % 2 == 0, product, -product), x).squeeze(-1);
}

SignLogDet slogdet(const Tensor& x) {
  const Packed packed = factor(square_matrices("slogdet", x));
  const Tensor diagonal = diagonal_of(packed.factors);
  const Tensor product = sign(diagonal).prod(1, /*keepdims=*/true);
  return {unbatched(where(packed.swaps % 2 == 0, product, -product), x).squeeze(-1),
          unbatched(diagonal.abs().log().sum(1, /*keepdims=*/true), x).squeeze(-1)};
}

Tensor matrix_power(const Tensor& x, int64_t power) {
  const Shape& shape = dims_of(x);
  TN_REQUIRE(x.rank() >= 2 && shape[shape.size() - 2] == shape.back(),
             "[matrix_power] expected square matrices [.., n, n], got {}", to_string(shape));
  Tensor base = power < 0 ? inv(x) : x, result = tril(triu(constant_like(x, 1)));
  bool first = true;
  const auto size = static_cast<uint64_t>(power);
  for (uint64_t bits = power < 0 ? -size : size; bits != 0; bits >>= 1) {
    if (bits & 1) result = first ? base : result.matmul(base);
    if (bits & 1) first = false;
    if (bits > 1) base = base.matmul(base);
  }
  return result;
}

Tensor expm(const Tensor& x) {
  const Tensor a = square_matrices("expm", x);
  constexpr double kTheta = 5.371920351148152;  // up to here the approximant is good to 2^-53
  constexpr int64_t kSquarings = 24;
  const Tensor size = a.abs().sum(1, /*keepdims=*/true).max(2, /*keepdims=*/true);  // [batch, 1, 1]
  const Tensor times = -(-(size / kTheta).maximum(1).log2()).floor();
  const Tensor scaled = a * (-times).exp2();
  const double b[] = {64764752532480000.0,
                      32382376266240000.0,
                      7771770303897600,
                      1187353796428800,
                      129060195264000,
                      10559470521600,
                      670442572800,
                      33522128640,
                      1323241920,
                      40840800,
                      960960,
                      16380,
                      182,
                      1};
  // Divided by the first coefficient: all stay near 1 in f32.
  const auto c = [&](int i) { return b[i] / b[0]; };
  const Tensor one = identity_like(a, dims_of(a)[1]), a2 = scaled.matmul(scaled),
               a4 = a2.matmul(a2), a6 = a4.matmul(a2);
  const Tensor odd = scaled.matmul(a6.matmul(a6 * c(13) + a4 * c(11) + a2 * c(9)) + a6 * c(7) +
                                   a4 * c(5) + a2 * c(3) + one * c(1));
  const Tensor even = a6.matmul(a6 * c(12) + a4 * c(10) + a2 * c(8)) + a6 * c(6) + a4 * c(4) +
                      a2 * c(2) + one * c(0);
  const Tensor start = solve(even - odd, even + odd);
  const Tensor result =
      loop(kSquarings, {start}, {times},
           [](const Tensor& i, const Tensors& carried, const Tensors& fixed) {
             const Tensor goes_on = i.astype(fixed[0].dtype()) < fixed[0];
             return Tensors{where(goes_on, carried[0].matmul(carried[0]), carried[0])};
           })[0];
  return unbatched(result, x);
}

}  // namespace tenon
