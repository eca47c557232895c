// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The comparison: what is accepted, what is not, and what says too little.
#include <catch2/catch_test_macros.hpp>

#include "conformance/judge/compare.hpp"
#include "core/ir/build.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::judge;

namespace {

Profile profile() { return Profile::of(generic_capabilities()); }

Array array(DType dtype, const std::vector<double>& values) {
  Array out = Array::zeros(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    out.set(static_cast<int64_t>(i), Scalar::of(dtype, values[i]));
  return out;
}

/// A graph of params, and their arrays.
Case make_case(NodeRef output, std::vector<NodeRef> params, std::vector<Array> inputs) {
  Case test;
  test.graph.params = std::move(params);
  test.graph.outputs = {std::move(output)};
  test.graph.output_names = {""};
  test.inputs = std::move(inputs);
  return test;
}

}  // namespace

TEST_CASE("rounded ops are compared to the bit, others within their bound") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(2)});
  struct Row {
    Op op;
    int ulp;
    bool right;
  };
  for (const Row& row : {Row{Op::SQRT, 0, true}, Row{Op::SQRT, 1, false}, Row{Op::EXP2, 2, true},
                         Row{Op::EXP2, 50, false}, Row{Op::NEG, 1, false}, Row{Op::SIN, 3, true},
                         Row{Op::SIN, 60, false}}) {
    INFO(op_info(row.op).text << " off by " << row.ulp);
    const Case test = make_case(b.unary(row.op, x), {x}, {array(DType::kF32, {1.3, 0.7})});
    const Expectation expected = expect(test, profile());
    Array got = expected[0].value;
    got.set(1, {DType::kF32, got.at(1).bits + static_cast<uint64_t>(row.ulp)});
    const Comparison result = compare(expected, {got}, profile());
    CHECK(result.mismatch.has_value() != row.right);
    CHECK(result.worst_ulp == row.ulp);
  }
}

TEST_CASE("a sum of small integers is exact in any order") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(4)});
  const NodeRef sum = b.reduce(Op::ADD, x, {0});
  const Case test = make_case(sum, {x}, {array(DType::kF32, {1, 2, 3, 5})});
  const Expectation expected = expect(test, profile());
  Array got = expected[0].value;
  CHECK_FALSE(compare(expected, {got}, profile()).mismatch);
  got.set(0, {DType::kF32, got.at(0).bits + 1});
  CHECK(compare(expected, {got}, profile()).mismatch.has_value());
  // Not where the terms fill the significand, and not after an op with an error of its own.
  const Array large = array(DType::kF32, {16777217.0 / 3, 0.1, 0.7, 1.3});
  const NodeRef waves = b.reduce(Op::ADD, b.unary(Op::SIN, x), {0});
  for (const NodeRef& output : {sum, waves}) {
    const Expectation expected = expect(make_case(output, {x}, {large}), profile());
    Array got = expected[0].value;
    got.set(0, {DType::kF32, got.at(0).bits + 1});
    CHECK_FALSE(compare(expected, {got}, profile()).mismatch);
  }
}

TEST_CASE("a bool that is neither 0 nor 1 is wrong") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(2)});
  const NodeRef less = b.binary(Op::CMPLT, x, b.constant(Scalar::of(DType::kF32, 1), {Dim(2)}));
  const Case test = make_case(less, {x}, {array(DType::kF32, {0, 2})});
  const Expectation expected = expect(test, profile());
  Array got = expected[0].value;
  CHECK_FALSE(compare(expected, {got}, profile()).mismatch);
  got.bytes[0] = 2;
  CHECK(compare(expected, {got}, profile()).mismatch.has_value());
}

TEST_CASE("zeros and wide intervals make a case vacuous") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(20)});
  std::vector<double> values(20, 0.0);
  const Case zeros = make_case(b.unary(Op::NEG, x), {x}, {array(DType::kF32, values)});
  CHECK_FALSE(vacuity(expect(zeros, profile())).empty());
  for (double& value : values) value = 3;
  const Case threes = make_case(b.unary(Op::NEG, x), {x}, {array(DType::kF32, values)});
  CHECK(vacuity(expect(threes, profile())).empty());
  // sin(x) - sin(x), with different roundings allowed to each: nothing but error.
  const NodeRef y = b.param("y", DType::kF32, {Dim(20)});
  const NodeRef left = b.binary(Op::SUB, b.unary(Op::SIN, x), b.unary(Op::SIN, y));
  const Case cancels =
      make_case(left, {x, y}, {array(DType::kF32, values), array(DType::kF32, values)});
  CHECK_FALSE(vacuity(expect(cancels, profile())).empty());
}

TEST_CASE("positions and differences are named") {
  CHECK(position_text(7, {2, 5}) == "[1, 2]");
  CHECK(position_text(0, {}) == "[]");
  const Array a = array(DType::kF32, {1, 2}), b = array(DType::kF32, {1, 3});
  CHECK(first_difference({a}, {a}).empty());
  CHECK(first_difference({a}, {b}).find("[1]") != std::string::npos);
}
