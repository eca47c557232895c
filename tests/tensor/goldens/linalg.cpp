// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear algebra against NumPy.
#include <catch2/catch_test_macros.hpp>

#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

template <class F>
auto one(F function) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0))}; };
}
template <class F>
auto two(F function) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0), call.in.at(1))}; };
}

const Function kLinalg[] = {
    {"einsum", [](const Call& c) { return Tensors{einsum(c.word("text"), c.in)}; }, 16, 16, true,
     false},
    {"dot", two(dot), 16, 16, true, false},
    {"outer", two(outer), 0, 0},
    {"kron", two(kron), 0, 0},
    {"trace",
     [](const Call& c) {
       return Tensors{trace(c.in.at(0), c.integer("offset"), c.axes()[0], c.axes()[1])};
     },
     8, 8, true},
    {"tensordot",
     [](const Call& c) {
       const Tensor &a = c.in.at(0), &b = c.in.at(1);
       if (c.has("count")) return Tensors{tensordot(a, b, static_cast<int>(c.integer("count")))};
       return Tensors{tensordot(a, b, c.axes("a"), c.axes("b"))};
     },
     16, 16, true, false},
    {"matrix_power",
     [](const Call& c) { return Tensors{matrix_power(c.in.at(0), c.integer("power"))}; }, 64, 256,
     true, false},
    {"cholesky", one(cholesky), 8, 8, true},
    {"solve", two(solve), 64, 64, true, false},
    {"solve_triangular",
     [](const Call& c) {
       return Tensors{solve_triangular(c.in.at(0), c.in.at(1), c.integer("lower") != 0,
                                       c.integer("unit") != 0)};
     },
     32, 32, true, false},
    {"inv", one(inv), 64, 64, true, false},
    {"det", one(det), 64, 64, true, false},
    {"slogdet",
     [](const Call& c) {
       const SignLogDet found = slogdet(c.in.at(0));
       return Tensors{found.sign, found.log};
     },
     64, 64, true, false},
    {"lu",
     [](const Call& c) {
       const LU found = lu(c.in.at(0));
       return Tensors{found.permutation, found.lower, found.upper};
     },
     4, 4, true, false},
    {"qr",
     [](const Call& c) {
       const QR found = qr(c.in.at(0));
       return Tensors{found.q, found.r};
     },
     32, 32, true, false},
    {"eigenvalues", [](const Call& c) { return Tensors{eigh(c.in.at(0)).values}; }, 32, 32, true,
     false},
    {"singular_values", [](const Call& c) { return Tensors{svd(c.in.at(0)).values}; }, 32, 32, true,
     false},
    {"lstsq", two([](const Tensor& a, const Tensor& b) { return lstsq(a, b); }), 256, 256, true,
     false},
    {"expm", one(expm), 64, 256, true, false},
};

TEST_CASE("linear algebra") { run_goldens("linalg", kLinalg); }

}  // namespace

std::span<const Function> linalg_functions() { return kLinalg; }

}  // namespace tenon::test
