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
#define UNARY(name) unary([](const Tensor& x) { return name(x); })

// ULPs in f32 and f64: 0 where NumPy's bits are expected.
const Function kUnary[] = {
    {"exp", UNARY(exp), 1, 1},
    {"exp2", UNARY(exp2), 1, 1},
    {"log", UNARY(log), 1, 1},
    {"log2", UNARY(log2), 1, 1},
    {"sin", UNARY(sin), 1, 1},
    {"cos", UNARY(cos), 1, 1},
    {"sqrt", UNARY(sqrt), 1, 1},
    {"rsqrt", UNARY(rsqrt), 1, 1},
    {"reciprocal", UNARY(reciprocal), 1, 1},
    {"square", UNARY(square), 1, 1},
    {"abs", UNARY(abs)},
    {"negative", UNARY(negative)},
    {"floor", UNARY(floor)},
    {"trunc", UNARY(trunc)},
    {"sign", UNARY(sign), 0, 0, false, /*signed_zero=*/false},
    {"ceil", UNARY(ceil)},
    {"round", UNARY(round)},
    {"frac", UNARY(frac), 0, 0, false, /*signed_zero=*/false},
    {"degrees", UNARY(degrees), 1, 1},
    {"radians", UNARY(radians), 1, 1},
    {"expm1", UNARY(expm1), 2, 3},
    {"log1p", UNARY(log1p), 2, 2},
    {"log10", UNARY(log10), 2, 2},
    {"tan", UNARY(tan), 2, 2},
    {"asin", UNARY(asin), 2, 2},
    {"acos", UNARY(acos), 2, 2},
    {"atan", UNARY(atan), 3, 2},
    {"sinh", UNARY(sinh), 3, 3},
    {"cosh", UNARY(cosh), 3, 3},
    {"tanh", UNARY(tanh), 2, 4},
    {"asinh", UNARY(asinh), 3, 3},
    {"acosh", UNARY(acosh), 3, 3},
    {"atanh", UNARY(atanh), 3, 3},
    {"erf", UNARY(erf), 2, 2},
    {"erfc", UNARY(erfc), 5, 5},
    {"cbrt", UNARY(cbrt), 1, 1},
    {"sigmoid", UNARY(sigmoid), 2, 2},
    {"softplus", UNARY(softplus), 2, 2},
    {"log_sigmoid", UNARY(log_sigmoid), 2, 2},
    {"silu", UNARY(silu), 2, 2},
    {"mish", UNARY(mish), 3, 3},
    {"elu", unary([](const Tensor& x) { return elu(x); }), 2, 2},
    {"selu", UNARY(selu), 3, 4},
    {"celu", [](const Call& call) { return Tensors{celu(call.in.at(0), call.real("alpha"))}; }, 3,
     3},
    {"relu", UNARY(relu), 0, 0, false, /*signed_zero=*/false},
    {"relu6", UNARY(relu6), 0, 0, false, /*signed_zero=*/false},
    {"hardsigmoid", UNARY(hardsigmoid), 1, 1},
    {"hardswish", UNARY(hardswish), 2, 2},
    {"leaky_relu", unary([](const Tensor& x) { return leaky_relu(x); }), 1, 1},
    {"gelu", UNARY(gelu), 32, 512},
    {"gelu_exact", UNARY(gelu_exact), 32, 512},
    {"isnan", UNARY(isnan)},
    {"isinf", UNARY(isinf)},
    {"isfinite", UNARY(isfinite)},
    {"signbit", UNARY(signbit)},
    {"logical_not", UNARY(logical_not)},
    {"bitwise_not", unary([](const Tensor& x) { return ~x; })},
    {"nan_to_num", unary([](const Tensor& x) { return nan_to_num(x); })},
};

TEST_CASE("functions of one tensor") { run_goldens("unary", kUnary); }

}  // namespace

std::span<const Function> unary_functions() { return kUnary; }

}  // namespace tenon::test
