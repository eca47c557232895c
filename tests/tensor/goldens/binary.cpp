// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of two and three tensors against NumPy, JAX and mpmath; dtypes that meet.
#include <catch2/catch_test_macros.hpp>

#include "tests/docs/check_table.hpp"
#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

template <class F>
auto binary(F function) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0), call.in.at(1))}; };
}
#define BINARY_MEMBER(name) binary([](const Tensor& a, const Tensor& b) { return a.name(b); })
#define BINARY_FREE(name) binary([](const Tensor& a, const Tensor& b) { return name(a, b); })
#define INFIX(op) binary([](const Tensor& a, const Tensor& b) { return a op b; })

template <class F>
auto ternary(F function) {
  return [function](const Call& call) {
    return Tensors{function(call.in.at(0), call.in.at(1), call.in.at(2))};
  };
}

// ULPs in f32 and f64: 0 where NumPy's bits are expected.
const Function kBinary[] = {
    {"add", INFIX(+), 1, 1},
    {"sub", INFIX(-), 1, 1},
    {"mul", INFIX(*), 1, 1},
    {"divide", BINARY_FREE(divide), 1, 1},
    {"maximum", BINARY_MEMBER(maximum), 0, 0, false, /*signed_zero=*/false},
    {"minimum", BINARY_MEMBER(minimum), 0, 0, false, /*signed_zero=*/false},
    {"fmax", BINARY_FREE(fmax), 0, 0, false, /*signed_zero=*/false},
    {"fmin", BINARY_FREE(fmin), 0, 0, false, /*signed_zero=*/false},
    {"copysign", BINARY_FREE(copysign)},
    {"heaviside", BINARY_FREE(heaviside), 0, 0, false, /*signed_zero=*/false},
    {"hypot", BINARY_FREE(hypot), 2, 2},
    {"atan2", BINARY_FREE(atan2), 2, 2},
    {"logaddexp", BINARY_FREE(logaddexp), 3, 3, false, /*signed_zero=*/false},
    {"xlogy", BINARY_FREE(xlogy), 2, 2, false, /*signed_zero=*/false},
    {"pow", BINARY_FREE(pow), 2, 2},
    {"prelu", BINARY_FREE(prelu), 1, 1},
    {"fmod", BINARY_FREE(fmod)},
    {"remainder", BINARY_FREE(remainder)},
    {"floor_divide", BINARY_FREE(floor_divide), 1, 1},
    {"less", INFIX(<)},
    {"less_equal", INFIX(<=)},
    {"greater", INFIX(>)},
    {"greater_equal", INFIX(>=)},
    {"equal", INFIX(==)},
    {"not_equal", INFIX(!=)},
    {"isclose", BINARY_FREE(isclose)},
    {"logical_and", BINARY_FREE(logical_and)},
    {"logical_or", BINARY_FREE(logical_or)},
    {"logical_xor", BINARY_FREE(logical_xor)},
    {"bitwise_and", INFIX(&)},
    {"bitwise_or", INFIX(|)},
    {"bitwise_xor", INFIX(^)},
    {"shift_left", INFIX(<<)},
    {"shift_right", INFIX(>>)},
    {"clip", ternary(clip)},
    {"lerp", ternary(lerp), 2, 2, true},
    {"promote", INFIX(*)},
};

TEST_CASE("docs/tensor.md has the table of dtypes that meet") {
  std::string table = "| |", line = "|---|";
  for (const DType b : all_dtypes()) {
    table += fmt::format(" `{}` |", dtype_name(b));
    line += "---|";
  }
  table += "\n" + line + "\n";
  for (const DType a : all_dtypes()) {
    table += fmt::format("| `{}` |", dtype_name(a));
    for (const DType b : all_dtypes()) {
      CHECK(promote_types(a, b) == promote_types(b, a));
      table += fmt::format(" {} |", dtype_name(promote_types(a, b)));
    }
    table += "\n";
  }
  check_table("tensor.md", "promotion", table);
}

TEST_CASE("functions of two tensors") { run_goldens("binary", kBinary); }

}  // namespace

std::span<const Function> binary_functions() { return kBinary; }

}  // namespace tenon::test
