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
#define UNARY_MEMBER(name) unary([](const Tensor& x) { return x.name(); })
#define UNARY_FREE(name) unary([](const Tensor& x) { return name(x); })

// ULPs in f32 and f64: 0 where NumPy's bits are expected.
const Function kUnary[] = {
    {"exp", UNARY_MEMBER(exp), 1, 1},
    {"exp2", UNARY_MEMBER(exp2), 1, 1},
    {"log", UNARY_MEMBER(log), 1, 1},
    {"log2", UNARY_MEMBER(log2), 1, 1},
    {"sin", UNARY_MEMBER(sin), 1, 1},
    {"cos", UNARY_MEMBER(cos), 1, 1},
    {"sqrt", UNARY_MEMBER(sqrt), 1, 1},
    {"rsqrt", UNARY_MEMBER(rsqrt), 1, 1},
    {"reciprocal", UNARY_MEMBER(recip), 1, 1},
    {"square", UNARY_MEMBER(square), 1, 1},
    {"abs", UNARY_MEMBER(abs)},
    {"neg", UNARY_MEMBER(neg)},
    {"floor", UNARY_MEMBER(floor)},
    {"trunc", UNARY_MEMBER(trunc)},
    {"sign", UNARY_FREE(sign), 0, 0, false, /*signed_zero=*/false},
    {"ceil", UNARY_FREE(ceil)},
    {"round", UNARY_FREE(round)},
    {"frac", UNARY_FREE(frac), 0, 0, false, /*signed_zero=*/false},
    {"degrees", UNARY_FREE(degrees), 1, 1},
    {"radians", UNARY_FREE(radians), 1, 1},
    {"expm1", UNARY_FREE(expm1), 2, 3},
    {"log1p", UNARY_FREE(log1p), 2, 2},
    {"log10", UNARY_FREE(log10), 2, 2},
    {"tan", UNARY_FREE(tan), 2, 2},
    {"asin", UNARY_FREE(asin), 2, 2},
    {"acos", UNARY_FREE(acos), 2, 2},
    {"atan", UNARY_FREE(atan), 3, 2},
    {"sinh", UNARY_FREE(sinh), 3, 3},
    {"cosh", UNARY_FREE(cosh), 3, 3},
    {"tanh", UNARY_MEMBER(tanh), 2, 4},
    {"asinh", UNARY_FREE(asinh), 3, 3},
    {"acosh", UNARY_FREE(acosh), 3, 3},
    {"atanh", UNARY_FREE(atanh), 3, 3},
    {"erf", UNARY_FREE(erf), 2, 2},
    {"erfc", UNARY_FREE(erfc), 5, 5},
    {"cbrt", UNARY_FREE(cbrt), 1, 1},
    {"sigmoid", UNARY_MEMBER(sigmoid), 2, 2},
    {"softplus", UNARY_FREE(softplus), 2, 2},
    {"log_sigmoid", UNARY_FREE(log_sigmoid), 2, 2},
    {"silu", UNARY_FREE(silu), 2, 2},
    {"mish", UNARY_FREE(mish), 3, 3},
    {"elu", unary([](const Tensor& x) { return elu(x); }), 2, 2},
    {"selu", UNARY_FREE(selu), 2, 2},
    {"celu", [](const Call& call) { return Tensors{celu(call.in.at(0), call.real("alpha"))}; }, 3,
     3},
    {"relu", UNARY_MEMBER(relu), 0, 0, false, /*signed_zero=*/false},
    {"relu6", UNARY_FREE(relu6), 0, 0, false, /*signed_zero=*/false},
    {"hardsigmoid", UNARY_FREE(hardsigmoid), 1, 1},
    {"hardswish", UNARY_FREE(hardswish), 2, 2},
    {"leaky_relu", unary([](const Tensor& x) { return leaky_relu(x); }), 1, 1},
    {"gelu", UNARY_MEMBER(gelu), 16, 512},
    {"gelu_exact", UNARY_FREE(gelu_exact), 8, 512},
    {"isnan", UNARY_FREE(isnan)},
    {"isinf", UNARY_FREE(isinf)},
    {"isfinite", UNARY_FREE(isfinite)},
    {"signbit", UNARY_FREE(signbit)},
    {"logical_not", UNARY_FREE(logical_not)},
    {"bitwise_not", unary([](const Tensor& x) { return ~x; })},
    {"nan_to_num", unary([](const Tensor& x) { return nan_to_num(x); })},
};

TEST_CASE("functions of one tensor") { run_goldens("unary", kUnary); }

}  // namespace

std::span<const Function> unary_functions() { return kUnary; }

}  // namespace tenon::test
