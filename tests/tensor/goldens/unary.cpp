// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one tensor against NumPy, JAX and mpmath.
#include <catch2/catch_test_macros.hpp>

#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

template <class F>
auto unary(F function) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0))}; };
}
#define MEMBER(name) unary([](const Tensor& x) { return x.name(); })
#define FREE(name) unary([](const Tensor& x) { return name(x); })

// ULPs in f32 and f64: 0 where NumPy's bits are expected.
const Function kUnary[] = {
    {"exp", MEMBER(exp), 1, 1},
    {"exp2", MEMBER(exp2), 1, 1},
    {"log", MEMBER(log), 1, 1},
    {"log2", MEMBER(log2), 1, 1},
    {"sin", MEMBER(sin), 1, 1},
    {"cos", MEMBER(cos), 1, 1},
    {"sqrt", MEMBER(sqrt), 1, 1},
    {"rsqrt", MEMBER(rsqrt), 1, 1},
    {"reciprocal", MEMBER(recip), 1, 1},
    {"square", MEMBER(square), 1, 1},
    {"abs", MEMBER(abs)},
    {"neg", MEMBER(neg)},
    {"floor", MEMBER(floor)},
    {"trunc", MEMBER(trunc)},
    {"sign", FREE(sign), 0, 0, false, /*signed_zero=*/false},
    {"ceil", FREE(ceil)},
    {"round", FREE(round)},
    {"frac", FREE(frac), 0, 0, false, /*signed_zero=*/false},
    {"degrees", FREE(degrees), 1, 1},
    {"radians", FREE(radians), 1, 1},
    {"expm1", FREE(expm1), 2, 3},
    {"log1p", FREE(log1p), 2, 2},
    {"log10", FREE(log10), 2, 2},
    {"tan", FREE(tan), 2, 2},
    {"asin", FREE(asin), 2, 2},
    {"acos", FREE(acos), 2, 2},
    {"atan", FREE(atan), 3, 2},
    {"sinh", FREE(sinh), 3, 3},
    {"cosh", FREE(cosh), 3, 3},
    {"tanh", MEMBER(tanh), 2, 4},
    {"asinh", FREE(asinh), 3, 3},
    {"acosh", FREE(acosh), 3, 3},
    {"atanh", FREE(atanh), 3, 3},
    {"erf", FREE(erf), 2, 2},
    {"erfc", FREE(erfc), 5, 5},
    {"cbrt", FREE(cbrt), 1, 1},
    {"sigmoid", MEMBER(sigmoid), 2, 2},
    {"softplus", FREE(softplus), 2, 2},
    {"log_sigmoid", FREE(log_sigmoid), 2, 2},
    {"silu", FREE(silu), 2, 2},
    {"mish", FREE(mish), 3, 3},
    {"elu", unary([](const Tensor& x) { return elu(x); }), 2, 2},
    {"selu", FREE(selu), 2, 2},
    {"celu", [](const Call& call) { return Tensors{celu(call.in.at(0), call.real("alpha"))}; }, 3,
     3},
    {"relu", MEMBER(relu), 0, 0, false, /*signed_zero=*/false},
    {"relu6", FREE(relu6), 0, 0, false, /*signed_zero=*/false},
    {"hardsigmoid", FREE(hardsigmoid), 1, 1},
    {"hardswish", FREE(hardswish), 2, 2},
    {"leaky_relu", unary([](const Tensor& x) { return leaky_relu(x); }), 1, 1},
    {"gelu", MEMBER(gelu), 16, 512},
    {"gelu_exact", FREE(gelu_exact), 8, 512},
    {"isnan", FREE(isnan)},
    {"isinf", FREE(isinf)},
    {"isfinite", FREE(isfinite)},
    {"signbit", FREE(signbit)},
    {"logical_not", FREE(logical_not)},
    {"bitwise_not", unary([](const Tensor& x) { return ~x; })},
    {"nan_to_num", unary([](const Tensor& x) { return nan_to_num(x); })},
};

TEST_CASE("functions of one tensor") { run_goldens("unary", kUnary); }

}  // namespace

std::span<const Function> unary_functions() { return kUnary; }

}  // namespace tenon::test
