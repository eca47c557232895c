// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products, factorisations and transforms.
#include "tests/sizes/case.hpp"

namespace tenon::test {
namespace {

/// Well-conditioned and symmetric, of any matrices [.., n, n].
Tensor definite(const Tensor& x) {
  const Tensor n = from_size(x.sizes()[static_cast<size_t>(x.rank()) - 1], x.context());
  const Tensor one = tril(triu(ones_like(x)));
  return x.matmul(x.matrix_transpose()) * 0.05 + one * n.astype(DType::kF32);
}

}  // namespace

std::vector<SizeCase> linalg_size_cases() {
  const std::string factors = "the transform goes by its factors";
  const std::string larger = "bounds must tell which of both is larger";
  return {
      {"matmul", {"bnk", "km"}, TENON_CALL(matmul(x[0], x[1]))},
      {"einsum",
       {"bnk", "bkm", "mc"},
       TENON_CALL(einsum("bnk,bkm->bnm", {x[0], x[1]}), einsum("bnk,bkm,mc->cn", x),
                  einsum("...nk,...km->...mn", {x[0], x[1]}))},
      {"einsum of a diagonal", {"bnn"}, TENON_CALL(einsum("bii->bi", x), einsum("bii", x))},
      {"dot", {"bnk", "km"}, TENON_CALL(dot(x[0], x[1]))},
      {"outer", {"n", "mk"}, TENON_CALL(outer(x[0], x[1]))},
      {"kron", {"nm", "ab"}, TENON_CALL(kron(x[0], x[1]))},
      {"trace", {"bnm"}, TENON_CALL(trace(x[0], 0, 1, 2), trace(x[0], 1, 1, 2))},
      {"tensordot",
       {"nab", "abm"},
       TENON_CALL(tensordot(x[0], x[1]), tensordot(x[0], x[1], {1}, {0}))},
      {"convolve", {"an", "m"}, TENON_CALL(convolve(x[0], x[1]))},
      {"convolve, kSame and kValid",
       {"na", "3"},
       TENON_CALL(convolve(x[0], x[1], Convolution::kSame, 0),
                  convolve(x[0], x[1], Convolution::kValid, 0)),
       {},
       {{'n', 3}}},
      {"convolve, kSame",
       {"n", "m"},
       TENON_CALL(convolve(x[0], x[1], Convolution::kSame)),
       {{'n', larger}, {'m', larger}}},
      {"convolve, kValid",
       {"n", "m"},
       TENON_CALL(convolve(x[0], x[1], Convolution::kValid)),
       {{'n', larger}, {'m', larger}}},
      {"matrix_power", {"bnn"}, TENON_CALL(matrix_power(x[0] * 0.1, 3))},
      {"cholesky", {"bnn"}, TENON_CALL(cholesky(definite(x[0]))), {}, {}, true, true, 7},
      {"solve_triangular",
       {"bnn", "bnm"},
       TENON_CALL(solve_triangular(definite(x[0]), x[1])),
       {},
       {},
       true,
       true,
       7},
      {"lu", {"bnn"}, TENON_CALL(lu(definite(x[0])).upper), {}, {}, true, true, 7},
      {"solve", {"bnn", "bnm"}, TENON_CALL(solve(definite(x[0]), x[1])), {}, {}, true, true, 7},
      {"inv", {"bnn"}, TENON_CALL(inv(definite(x[0]))), {}, {}, true, true, 7},
      {"det", {"bnn"}, TENON_CALL(det(definite(x[0]) * 0.3)), {}, {}, true, true, 7},
      {"slogdet", {"bnn"}, TENON_CALL(slogdet(definite(x[0])).log), {}, {}, true, true, 7},
      {"qr", {"bnn"}, TENON_CALL(qr(definite(x[0])).r), {}, {}, true, true, 7},
      {"eigh", {"bnn"}, TENON_CALL(eigh(definite(x[0])).values), {}, {}, true, true, 7},
      {"svd", {"bnn"}, TENON_CALL(svd(definite(x[0])).values), {}, {}, true, true, 7},
      {"svd, of any shape", {"bnm"}, TENON_CALL(svd(x[0]).values), {{'n', larger}, {'m', larger}}},
      {"lstsq, of any shape",
       {"nm", "n"},
       TENON_CALL(lstsq(x[0], x[1])),
       {{'n', larger}, {'m', larger}}},
      {"lstsq", {"bnn", "bnm"}, TENON_CALL(lstsq(definite(x[0]), x[1])), {}, {}, true, true, 7},
      {"expm", {"bnn"}, TENON_CALL(expm(x[0] * 0.1)), {}, {}, true, true, 7},
      {"fft", {"anb"}, TENON_CALL(fft({x[0], -x[0]}, 1).real), {{'n', factors}}},
      {"ifft", {"anb"}, TENON_CALL(ifft({x[0], -x[0]}, 1).imag), {{'n', factors}}},
      {"rfft", {"anb"}, TENON_CALL(rfft(x[0], 1).real), {{'n', factors}}},
      {"irfft", {"anb"}, TENON_CALL(irfft({x[0], x[0]}, 6, 1)), {{'n', factors}}},
      {"fftshift", {"anb"}, TENON_CALL(fftshift(x[0], 1))},
      {"ifftshift", {"anb"}, TENON_CALL(ifftshift(x[0], 1))},
      {"fft_convolve",
       {"an", "am"},
       TENON_CALL(fft_convolve(x[0], x[1], Convolution::kFull, 1)),
       {{'n', factors}, {'m', factors}}},
  };
}

}  // namespace tenon::test
