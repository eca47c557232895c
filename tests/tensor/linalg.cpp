// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorisations by their residuals, sums of many tensors, and what linear algebra refuses.
#include <fmt/format.h>

#include <cmath>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using test::on_each_device;
using test::refuses;

namespace {

using I = std::vector<int64_t>;

/// The largest difference, in units of the last place of the largest element.
double distance(const Tensor& a, const Tensor& b) {
  const double ulp = a.dtype() == DType::kF64 ? 0x1p-52 : 0x1p-23;
  const Tensor largest = b.abs().max().maximum(1);
  return ((a - b).abs().max() / largest).astype(DType::kF64).item<double>() / ulp;
}

Tensor turned(const Tensor& x) { return x.matrix_transpose(); }

Tensor identity(const Tensor& x, int64_t n) { return eye(n, {}, 0, x.dtype(), x.context()); }

}  // namespace

TEST_CASE("factors multiply to the matrix") {
  on_each_device([](Context& context) {
    const bool plain = context.device().name.find("null") != std::string::npos;
    const int64_t n = plain ? 6 : 24;
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const Tensor x = normal(Key(5, context), {2, n + 5, n}, 0, 1, dtype);
      const Tensor square = x.slice({Slice{}, Slice{0, n}}), even = turned(square).matmul(square);
      for (const Tensor& a : {x, turned(x)}) {
        const QR f = qr(a);
        CHECK(distance(f.q.matmul(f.r), a) < 64);
        CHECK(distance(turned(f.q).matmul(f.q), identity(x, n)) < 64);
        const SVD s = svd(a);
        CHECK(distance((s.u * s.values.expand_dims(-2)).matmul(s.vh), a) < 128);
        CHECK(distance(turned(s.u).matmul(s.u), identity(x, n)) < 64);
        CHECK(distance(s.vh.matmul(turned(s.vh)), identity(x, n)) < 128);
      }
      const LU f = lu(square);
      const Tensor rows = f.permutation.expand_dims(-1).broadcast_to(square.shape());
      CHECK(distance(f.lower.matmul(f.upper), square.gather(1, rows)) < 64);
      const Eigen e = eigh(even);
      CHECK(distance(even.matmul(e.vectors), e.vectors * e.values.expand_dims(-2)) < 256);
      CHECK(distance(turned(e.vectors).matmul(e.vectors), identity(x, n)) < 128);
    }
  });
}

TEST_CASE("a matrix without full rank has a least solution") {
  on_each_device([](Context& context) {
    const Tensor a = tensor<float>({{1, 2}, {2, 4}, {3, 6}}, context);
    const Tensor b = tensor<float>({1, 2, 3}, context);
    const auto x = lstsq(a, b).to_vector<float>();  // along [1, 2]
    CHECK(std::abs(x[0] - 0.2f) < 1e-6f);
    CHECK(std::abs(x[1] - 0.4f) < 1e-6f);
    const SVD s = svd(a);
    CHECK(s.values.to_vector<float>()[1] < 1e-5f);
    CHECK(distance(turned(s.u).matmul(s.u), identity(a, 2)) < 16);
  });
}

TEST_CASE("equations of two dtypes are solved in the wider") {
  ContextOptions options;
  options.devices = "cpu";
  Context context(options);
  const Tensor narrow = eye(2, {}, 0, DType::kF32, context) * 4,
               wide = tensor(std::vector{1.0, 0.1}, {2}, context);
  for (const auto& f : {+[](const Tensor&a, const Tensor&b) { return solve(a, b); },
                        +[](const Tensor&a, const Tensor&b) { return solve_triangular(a, b); },
                        +[](const Tensor&a, const Tensor&b) { return lstsq(a, b); }}) {
    CHECK(f(narrow, wide).dtype() == DType::kF64);
    CHECK(f(narrow.astype(DType::kF64), wide.astype(DType::kF32)).dtype() == DType::kF64);
    CHECK(std::abs(f(narrow, wide).to_vector<double>()[1] - 0.025) < 1e-15);
  }
}

TEST_CASE("einsum of many tensors takes pairs with common labels, in quadratic time") {
  on_each_device([](Context& context) {
    const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const Tensor swap = tensor<float>({{0, 1}, {1, 0}}, context);
    std::string chain, shared, apart;
    std::vector<Tensor> matrices, rows, numbers;
    for (size_t i = 0; i < 50; ++i) {
      chain += fmt::format("{}{}{}", i ? "," : "", letters[i], letters[i + 1]);
      matrices.push_back(swap);
    }
    const Tensor product =
        einsum(fmt::format("{}->{}{}", chain, letters[0], letters[50]), matrices);
    CHECK(product.to_vector<float>() == std::vector<float>{1, 0, 0, 1});
    // 200 rows of one label, and of labels that nobody shares.
    for (size_t i = 0; i < 200; ++i) {
      shared += i ? ",a" : "a";
      rows.push_back(tensor<float>({1, -1}, context));
    }
    CHECK(einsum(shared + "->a", rows).to_vector<float>() == std::vector<float>{1, 1});
    for (size_t i = 0; i < 40; ++i) {
      apart += fmt::format("{}{}", i ? "," : "", letters[i]);
      numbers.push_back(tensor<float>({2}, context));
    }
    CHECK(einsum(apart + "->", numbers).item<float>() == std::ldexp(1.0F, 40));
  });
}

TEST_CASE("einsum chooses its pairs greedily as the best order would") {
  on_each_device([](Context& context) {
    // A vector at the end of a chain of matrices: matrix times vector each time.
    const std::string letters = "abcdefghijklmnopqrstuvwxyz";
    std::string chain;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < 12; ++i) {
      chain += fmt::format("{}{},", letters[i], letters[i + 1]);
      tensors.push_back(eye(256, {}, 0, DType::kF32, context) * 2.0);
    }
    tensors.push_back(ones({256}, DType::kF32, context));
    const Tensor y = einsum(fmt::format("{}{}->a", chain, letters[12]), tensors);
    for (const float value : y.to_vector<float>()) CHECK(value == 4096);
  });
}

TEST_CASE("linear algebra refuses what does not fit") {
  on_each_device([](Context& context) {
    const Tensor x = ones({2, 3}, DType::kF32, context);
    const Tensor v = ones({3}, DType::kF32, context);
    refuses([&] { einsum("ij,jk->ik", {x}); },
            "[einsum] expected 2 tensors for 'ij,jk->ik', got 1");
    refuses([&] { einsum("ij,jk->ik", {x, x}); }, "[einsum] expected one size for each label");
    refuses([&] { einsum("i->i", {x}); },
            "[einsum] expected a tensor of rank 1 for 'i', got rank 2");
    refuses([&] { einsum("ij->ik", {x}); },
            "[einsum] expected labels of the result that a tensor has");
    refuses([&] { einsum("ij->ii", {x}); }, "[einsum] expected each label once in the result");
    refuses([&] { einsum("i1->i", {x}); }, "[einsum] expected letters, commas, '...' and '->'");
    refuses([&] { einsum("...i->i", {x}); }, "[einsum] expected an ellipsis in the result too");
    refuses([&] { einsum("", {}); }, "[einsum] expected at least one tensor, got none");
    refuses([&] { tensordot(x, v, 2); }, "[tensordot] expected a count of axes in [0, 1], got 2");
    refuses([&] { tensordot(x, v, {0}, {0}); },
            "[tensordot] expected equal sizes of axes 0 and 0, got 2 and 3");
    refuses([&] { cholesky(x); }, "[cholesky] expected square matrices [.., n, n], got [2, 3]");
    refuses([&] { cholesky(v); }, "[cholesky] expected matrices [.., m, n], got rank 1");
    refuses([&] { solve(x, v); },
            "[solve] expected [.., m, n] and [m] or [.., m, k], got [2, 3] and [3]");
    refuses([&] { det(x); }, "[det] expected square matrices");
    refuses([&] { slogdet(x); }, "[slogdet] expected square matrices");
    refuses([&] { inv(x); }, "[inv] expected square matrices");
    refuses([&] { matrix_power(x, 2); }, "[matrix_power] expected square matrices");
    refuses([&] { lstsq(x, v); }, "[lstsq] expected 2 rows on the right side, got 3");
    refuses([&] { eigh(x); }, "[eigh] expected square matrices");
    refuses([&] { trace(v); }, "[diagonal] expected");
  });
}
