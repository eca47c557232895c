// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One place of an axis: no STORE and no sum is left, and the bits are the same.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/rewrite/passes.hpp"
#include "tests/rewrite/random_graph.hpp"

using namespace tenon;

namespace {

bool has(const Graph& graph, Op op) {
  for (const NodeRef& n : topological(graph.outputs))
    if (n->op == op) return true;
  return false;
}

/// Same bits for whatever the inputs are; gives what simplify made.
Graph simplified(Builder& builder, const std::string& text, const std::vector<Array>& inputs) {
  const Graph graph = parse_graph(text, builder);
  Graph out = simplify(graph, builder);
  verify(out);
  const auto before = evaluate(graph, inputs), after = evaluate(out, inputs);
  INFO(print(graph) << print(out));
  for (size_t i = 0; i < before.size(); ++i) CHECK(test::same(before[i], after[i]));
  return out;
}

Array integers(DType dtype, std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  Array out = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i)
    out.set(i, Scalar::of_int(dtype, values[static_cast<size_t>(i) % values.size()]));
  return out;
}

Array floats(std::vector<int64_t> shape) {
  const double values[] = {1.5, -0.0, NAN, INFINITY, -2, 0.0, 3e38};
  Array out = Array::zeros(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, Scalar::of(DType::kF32, values[i % 7]));
  return out;
}

/// Inside, at both ends, outside, and what is inside once its upper bits are gone.
std::vector<int64_t> places(DType dtype) {
  std::vector<int64_t> out{0, 8, 3, 9};
  if (is_signed(dtype)) out.push_back(-1);
  if (dtype_bits(dtype) == 64)
    out.insert(out.end(), {(int64_t{1} << 32) + 3, INT64_MAX, int64_t{1} << 31});
  if (dtype == DType::kI64) out.insert(out.end(), {INT64_MIN, -(int64_t{1} << 32) + 3});
  if (dtype == DType::kU32) out.push_back(0xFFFFFFFF);
  return out;
}

}  // namespace

TEST_CASE("what is stored at one place of a constant is a choice by positions") {
  for (const DType dtype : {DType::kI8, DType::kI32, DType::kU32, DType::kI64, DType::kU64}) {
    for (const char* op : {"store", "store.add"}) {
      for (const char* constant : {"0.0", "-0.0", "2.0"}) {
        Builder builder;
        const std::string text = fmt::format(R"(graph g(%i: {}[12, 1, 2], %v: f32[12, 1, 2]) {{
          %x = const {} : f32[12, 9, 2]
          %y = {} %x, %i, %v, axis=1
          return %y }})",
                                             dtype_name(dtype), constant, op);
        const Graph out = simplified(
            builder, text, {integers(dtype, {12, 1, 2}, places(dtype)), floats({12, 1, 2})});
        CHECK_FALSE(has(out, Op::STORE));
      }
    }
  }
}

TEST_CASE("a sum of what is chosen at one place is a look at that place") {
  for (const DType dtype : {DType::kI32, DType::kU32, DType::kI64, DType::kU64}) {
    for (const bool is_same : {false, true}) {
      for (const bool is_first : {false, true}) {
        Builder builder;
        const std::string text = fmt::format(
            R"(graph g(%i: {0}[12, 1, 2], %v: f32[12, {1}, 2]) {{
              %p0 = index axis=0 : {0}[9]
              %p1 = reshape %p0 : {0}[1, 9, 1]
              %p = expand %p1 : {0}[12, 9, 2]
              %ie = expand %i : {0}[12, 9, 2]
              %is = cmpeq {2}
              %ve = expand %v : f32[12, 9, 2]
              %none = const 0.0 : f32[12, 9, 2]
              %w = where %is, %ve, %none
              %y = reduce.add %w, axes=[1]
              return %y }})",
            dtype_name(dtype), is_same ? 1 : 9, is_first ? "%p, %ie" : "%ie, %p");
        const Graph out = simplified(
            builder, text,
            {integers(dtype, {12, 1, 2}, places(dtype)), floats({12, is_same ? 1 : 9, 2})});
        CHECK_FALSE(has(out, Op::REDUCE));
        CHECK(has(out, Op::TAKE) == !is_same);
      }
    }
  }
}

TEST_CASE("the gradient of a look at one place of each row has neither a scatter nor a sum") {
  Builder builder;
  const Graph out =
      simplified(builder, R"(graph g(%i: i64[12, 1], %v: f32[12, 1]) {
      %x = const 0.0 : f32[12, 9]
      %s = store.add %x, %i, %v, axis=1
      %r = reduce.add %s, axes=[1]
      %e = expand %r : f32[12, 9]
      %y = sub %s, %e
      return %y })",
                 {integers(DType::kI64, {12, 1}, places(DType::kI64)), floats({12, 1})});
  CHECK_FALSE(has(out, Op::REDUCE));
  CHECK_FALSE(has(out, Op::STORE));
}

TEST_CASE("sums and stores of other places stay") {
  const char* const kept[] = {// not a position of the axis that is summed
                              R"(graph g(%i: i64[9, 1], %v: f32[9, 9]) {
        %p = index axis=0 : i64[9, 9]
        %ie = expand %i : i64[9, 9]
        %is = cmpeq %p, %ie
        %none = const 0.0 : f32[9, 9]
        %w = where %is, %v, %none
        %y = reduce.add %w, axes=[1]
        return %y })",
                              // another index all along the axis
                              R"(graph g(%i: i64[9, 9], %v: f32[9, 9]) {
        %p = index axis=1 : i64[9, 9]
        %is = cmpeq %p, %i
        %none = const 0.0 : f32[9, 9]
        %w = where %is, %v, %none
        %y = reduce.add %w, axes=[1]
        return %y })",
                              // what is not chosen counts
                              R"(graph g(%i: i64[9, 1], %v: f32[9, 9]) {
        %p = index axis=1 : i64[9, 9]
        %ie = expand %i : i64[9, 9]
        %is = cmpeq %p, %ie
        %none = const 1.0 : f32[9, 9]
        %w = where %is, %v, %none
        %y = reduce.add %w, axes=[1]
        return %y })",
                              // positions that wrap
                              R"(graph g(%i: i8[9, 1], %v: f32[9, 300]) {
        %p = index axis=1 : i8[9, 300]
        %ie = expand %i : i8[9, 300]
        %is = cmpeq %p, %ie
        %none = const 0.0 : f32[9, 300]
        %w = where %is, %v, %none
        %y = reduce.add %w, axes=[1]
        return %y })"};
  for (const char* text : kept) {
    Builder builder;
    const Graph graph = parse_graph(text, builder);
    std::vector<Array> inputs;
    for (const NodeRef& p : graph.params) {
      std::vector<int64_t> shape;
      for (const Dim& d : p->shape) shape.push_back(d.value());
      inputs.push_back(is_int(p->dtype) ? integers(p->dtype, shape, {0, 8, 3, -1, 44})
                                        : floats(shape));
    }
    CHECK(has(simplified(builder, text, inputs), Op::REDUCE));
  }
  Builder builder;
  // two places; and what is there already may be large
  for (const char* text : {R"(graph g(%i: i64[4, 2], %v: f32[4, 2]) {
          %x = const 0.0 : f32[4, 9]
          %y = store.add %x, %i, %v, axis=1
          return %y })"})
    CHECK(has(
        simplified(builder, text, {integers(DType::kI64, {4, 2}, {3, 3, 0, 9}), floats({4, 2})}),
        Op::STORE));
  CHECK(has(simplified(builder, R"(graph g(%x: f32[4, 9], %i: i64[4, 1], %v: f32[4, 1]) {
          %y = store.add %x, %i, %v, axis=1
          return %y })",
                       {floats({4, 9}), integers(DType::kI64, {4, 1}, {3, 0, 9}), floats({4, 1})}),
            Op::STORE));
}

TEST_CASE("of what is computed only the place that is looked at is") {
  for (const DType dtype : {DType::kI32, DType::kU32, DType::kI64, DType::kU64}) {
    Builder builder;
    const std::string text = fmt::format(
        R"(graph g(%i: {0}[12, 1, 2], %v: f32[12, 9, 2], %w: f32[12, 1, 2]) {{
          %we = expand %w : f32[12, 9, 2]
          %d = sub %v, %we
          %p = index axis=1 : i32[12, 9, 2]
          %pf = cast %p : f32
          %one = const 1.5 : f32[12, 9, 2]
          %e = mul %pf, %one
          %s = add %d, %e
          %y = take %s, %i, axis=1
          %z = take %we, %i, axis=1
          return %y, %z }})",
        dtype_name(dtype));
    const Graph out = simplified(
        builder, text,
        {integers(dtype, {12, 1, 2}, places(dtype)), floats({12, 9, 2}), floats({12, 1, 2})});
    for (const NodeRef& n : topological(out.outputs))
      if (n->op == Op::SUB || n->op == Op::ADD) CHECK(n->shape[1].is_const(1));
  }
}
