// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Builder: inferred types, one node for equal requests, and the errors of every rule.
#include "core/ir/build.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>

#include "core/ir/node_table.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

#define CHECK_ERROR(action, text) \
  CHECK_THROWS_MATCHES(action, Error, MessageMatches(ContainsSubstring(text)))

struct Fixture {
  Builder b;
  Expr n = Expr::symbol("n", 1, 64);
  NodeRef x = b.param("x", DType::kF32, {n, 4});
  NodeRef i = b.param("i", DType::kI32, {n, 4});
  NodeRef t = b.param("t", DType::kBool, {n, 4});
  NodeRef h = b.param("h", DType::kF16, {n, 4});
};

std::string type(const NodeRef& node) { return type_string(*node); }

TEST_CASE_METHOD(Fixture, "types are inferred") {
  CHECK(type(b.binary(Op::ADD, x, x)) == "f32[n, 4]");
  CHECK(type(b.binary(Op::CMPLT, x, x)) == "bool[n, 4]");
  CHECK(type(b.where(t, i, i)) == "i32[n, 4]");
  CHECK(type(b.cast(x, DType::kF8E5M2)) == "f8e5m2[n, 4]");
  CHECK(type(b.bit_cast(x, DType::kU32)) == "u32[n, 4]");
  CHECK(type(b.binary(Op::SHL, i, b.cast(i, DType::kU8))) == "i32[n, 4]");
  CHECK(type(b.reshape(x, {2, n * 2})) == "f32[2, n*2]");
  CHECK(type(b.permute(x, {1, 0})) == "f32[4, n]");
  CHECK(type(b.pad(x, {{0, 1}, {n, 2}}, zero(DType::kF32))) == "f32[n + 1, n + 6]");
  CHECK(type(b.shrink(x, {{0, n}, {1, 3}})) == "f32[n, 2]");
  CHECK(type(b.flip(x, {1, 0})) == "f32[n, 4]");
  CHECK(type(b.expand(b.reduce(Op::ADD, x, {1}), {n, 7})) == "f32[n, 7]");
  CHECK(type(b.reduce(Op::MAX, x, {1, 0})) == "f32[1, 1]");
  CHECK(b.reduce(Op::ADD, h, {0})->as<ReduceAttr>().accumulator == DType::kF32);
  CHECK(b.reduce(Op::ADD, x, {0})->as<ReduceAttr>().accumulator == DType::kF32);
  CHECK(b.reduce(Op::ADD, i, {0}, DType::kI64)->as<ReduceAttr>().accumulator == DType::kI64);
  CHECK(type(b.index(1, {n, 4})) == "i64[n, 4]");
  CHECK(type(b.dim(n * 2)) == "i64[]");
  CHECK(type(b.constant(one(DType::kU8), {3})) == "u8[3]");
  const NodeRef at = b.param("at", DType::kI64, {n, 9});
  CHECK(type(b.take(x, at, 1)) == "f32[n, 9]");
  CHECK(type(b.store(x, at, b.param("v", DType::kF32, {n, 9}), 1, StoreMode::kAdd)) == "f32[n, 4]");
  CHECK(type(b.copy(x, "cpu:0")) == "f32[n, 4]");
}

TEST_CASE_METHOD(Fixture, "zero-size and 0-d tensors are legal") {
  const NodeRef empty = b.param("e", DType::kF32, {0, 3});
  CHECK(type(b.reduce(Op::ADD, empty, {0})) == "f32[1, 3]");
  CHECK(type(b.reshape(empty, {5, 0})) == "f32[5, 0]");
  const NodeRef scalar = b.param("s", DType::kF32, {});
  CHECK(type(b.binary(Op::MUL, scalar, scalar)) == "f32[]");
  CHECK(type(b.reduce(Op::ADD, scalar, {})) == "f32[]");
}

TEST_CASE_METHOD(Fixture, "broken rules say what was expected") {
  CHECK_ERROR(b.binary(Op::ADD, x, i),
              "[add] expected operands of one dtype, got f32[n, 4] and i32");
  CHECK_ERROR(b.binary(Op::ADD, x, b.reshape(x, {4, n})), "[add] expected operands of one shape");
  CHECK_ERROR(b.binary(Op::AND, x, x), "[and] expected an integer dtype or bool, got f32[n, 4]");
  CHECK_ERROR(b.unary(Op::SQRT, i), "[sqrt] expected a float dtype");
  CHECK_ERROR(b.unary(Op::NEG, t), "[neg] expected an integer or float dtype");
  CHECK_ERROR(b.where(x, x, x), "[where] expected a bool condition");
  CHECK_ERROR(b.where(t, x, i), "[where] expected operands of one shape and equal dtypes");
  CHECK_ERROR(b.fma(x, x, h), "[fma] expected operands of one shape and dtype");
  CHECK_ERROR(b.bit_cast(x, DType::kF16), "[bitcast] expected a dtype of the size of f32");
  CHECK_ERROR(b.cast(x, DType::kVoid), "[cast] expected a dtype");
  CHECK_ERROR(b.reshape(x, {n, 5}), "[reshape] expected a shape with as many elements as [n, 4]");
  CHECK_ERROR(b.expand(x, {n, 8}), "[expand] expected a shape");
  CHECK_ERROR(b.expand(x, {n, 4, 1}), "[expand] expected a shape");
  CHECK_ERROR(b.permute(x, {0, 0}), "[permute] expected each axis once");
  CHECK_ERROR(b.permute(x, {0}), "[permute] expected 2 axes");
  CHECK_ERROR(b.pad(x, {{0, -1}, {0, 0}}, zero(DType::kF32)), "[pad] expected sizes");
  CHECK_ERROR(b.pad(x, {{0, 0}}, zero(DType::kF32)), "[pad] expected 2 pairs");
  CHECK_ERROR(b.pad(x, {{0, 0}, {0, 0}}, zero(DType::kI8)), "[pad] expected a fill of f32, got i8");
  CHECK_ERROR(b.shrink(x, {{0, n}, {2, 5}}), "[shrink] expected 0 <= begin <= end <= 4");
  CHECK_ERROR(b.shrink(x, {{0, n + 1}, {0, 4}}), "[shrink] expected 0 <= begin <= end <= n");
  CHECK_ERROR(b.flip(x, {2}), "[flip] expected an axis from 0 to 1");
  CHECK_ERROR(b.flip(x, {1, 1}), "[flip] expected ascending axes");
  CHECK_ERROR(b.reduce(Op::SUB, x, {0}), "[reduce] expected add, mul, max or min, got sub");
  CHECK_ERROR(b.reduce(Op::ADD, x, {-1}), "[reduce] expected an axis");
  CHECK_ERROR(b.reduce(Op::ADD, x, {0}, DType::kF16), "[reduce] expected an accumulator");
  CHECK_ERROR(b.reduce(Op::ADD, i, {0}, DType::kF64), "[reduce] expected an accumulator");
  CHECK_ERROR(b.take(x, x, 0), "[take] expected integer indices");
  CHECK_ERROR(b.take(x, b.param("k", DType::kI32, {3, 9}), 1), "[take] expected indices shaped as");
  CHECK_ERROR(b.store(x, i, h, 0, StoreMode::kLast), "[store] expected values of type f32[n, 4]");
  CHECK_ERROR(b.index(0, {}), "[index] expected an axis");
  CHECK_ERROR(b.index(0, {3}, DType::kF32), "[index] expected an integer dtype");
  CHECK_ERROR(b.copy(x, ""), "[copy] expected the name of a device");
  CHECK_ERROR(b.param("x", DType::kVoid, {}), "[param] expected a dtype");
  CHECK_ERROR(b.param("x", DType::kF32, {-1}), "[param] expected dimensions of at least 0");
  CHECK_ERROR(b.param("x", DType::kF32, Shape(17, 1)), "[param] expected at most 16 axes");
  CHECK_ERROR(b.param("x", DType::kF32, Shape(8, 1 << 30)), "[param] expected a tensor of at most");
  CHECK_ERROR(b.make(Op::BARRIER, DType::kVoid, {}, {}, {}), "[barrier] expected an op of graphs");
  CHECK_ERROR(b.make(Op::ADD, DType::kVoid, {}, {x}, {}), "[add] expected 2 operands, got 1");
  CHECK_ERROR(b.make(Op::ADD, DType::kVoid, {}, {x, nullptr}, {}), "[add] expected an operand");
  CHECK_ERROR(b.make(Op::ADD, DType::kVoid, {}, {x, x}, TakeAttr{}), "[add] expected its own kind");
}

GraphRef graph(std::vector<NodeRef> params, std::vector<NodeRef> outputs) {
  Graph g;
  g.params = std::move(params);
  g.outputs = std::move(outputs);
  return std::make_shared<const Graph>(std::move(g));
}

TEST_CASE_METHOD(Fixture, "control flow checks the edges of its graphs") {
  const NodeRef c = b.param("c", DType::kBool, {}), k = b.param("k", DType::kI64, {});
  const GraphRef same = graph({x}, {x}), neg = graph({x}, {b.unary(Op::NEG, x)});
  const GraphRef other = graph({x}, {h}), two = graph({x}, {x, x});
  CHECK(type(b.if_(c, {x}, same, neg, 0)) == "f32[n, 4]");
  CHECK_ERROR(b.if_(k, {x}, same, neg, 0), "[if] expected a condition of type bool[]");
  CHECK_ERROR(b.if_(c, {}, same, neg, 0), "[if] expected 0 params in its then graph");
  CHECK_ERROR(b.if_(c, {h}, same, neg, 0), "[if] expected param 0 of its then graph");
  CHECK_ERROR(b.if_(c, {x}, same, other, 0), "[if] expected output 0 of one type");
  CHECK_ERROR(b.if_(c, {x}, same, two, 0), "[if] expected as many outputs");
  CHECK_ERROR(b.if_(c, {x}, same, neg, 1), "[if] expected a result below 1");
  CHECK_ERROR(b.if_(c, {x}, same, nullptr, 0), "[if] expected a graph");
  const GraphRef body = graph({k, x, h}, {b.unary(Op::NEG, x)});
  CHECK(type(b.loop(k, {x}, {h}, body, false, 0)) == "f32[n, 4]");
  CHECK_ERROR(b.loop(k, {}, {x, h}, body, false, 0), "[loop] expected a trip count and 0");
  CHECK_ERROR(b.loop(k, {x, h}, {}, body, false, 0), "[loop] expected 2 outputs");
  CHECK_ERROR(b.loop(c, {x}, {h}, body, false, 0), "[loop] expected a trip count of type i64[]");
  CHECK_ERROR(b.loop(k, {x}, {h}, body, true, 0), "[loop] expected 2 outputs of its body graph");
  const GraphRef until = graph({k, x}, {b.unary(Op::NEG, x), x});
  CHECK_ERROR(b.loop(k, {x}, {}, until, true, 0),
              "[loop] expected output 0 of its body graph to be");
}

TEST_CASE_METHOD(Fixture, "equal requests give one node") {
  CHECK(b.binary(Op::ADD, x, x) == b.binary(Op::ADD, x, x));
  CHECK(b.param("x", DType::kF32, {n, 4}) == x);
  CHECK(b.param("x", DType::kF32, {n, 4}, 1) != x);
  CHECK(b.constant(Scalar::of(DType::kF32, 0.0)) != b.constant(Scalar::of(DType::kF32, -0.0)));
  CHECK(b.reduce(Op::ADD, x, {0}) != b.reduce(Op::ADD, x, {1}));
  CHECK(b.unary(Op::SQRT, x)->hash != b.unary(Op::SIN, x)->hash);
}

TEST_CASE("a table holds living nodes only, also from many threads") {
  Builder b;
  NodeTable table;
  const NodeRef x = b.param("x", DType::kF32, {4});
  const auto work = [&] {
    for (int i = 0; i < 20000; ++i) {
      Node node;
      node.op = Op::NEG;
      node.dtype = DType::kF32;
      node.shape = {4, i % 7};
      node.sources = {x};
      const NodeRef a = table.intern(node), c = table.intern(node);
      if (a != c) std::abort();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  CHECK(table.size() == 0);
}

TEST_CASE("a table finds its nodes after others have left it, in any order") {
  NodeTable table;
  const auto make = [&](int64_t i) {
    Node node;
    node.op = Op::CONST;
    node.dtype = DType::kI64;
    node.attr = ConstAttr{Scalar::of_int(DType::kI64, i)};
    return table.intern(std::move(node));
  };
  std::vector<NodeRef> nodes;
  for (int64_t i = 0; i < 1000; ++i) nodes.push_back(make(i));
  for (size_t step : {7, 3, 1}) {  // divide no power of two
    for (size_t i = 0; i < nodes.size(); i += step) nodes[i] = nullptr;
    size_t left = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i]) continue;
      ++left;
      REQUIRE(table.holds(*nodes[i]));
      REQUIRE(make(static_cast<int64_t>(i)) == nodes[i]);
    }
    REQUIRE(table.size() == left);
  }
}

TEST_CASE("a builder owns what it made") {
  Builder b, other;
  const NodeRef x = b.param("x", DType::kF32, {4});
  CHECK(b.owns(*x));
  CHECK(!other.owns(*x));
  CHECK(!b.owns(*other.param("x", DType::kF32, {4})));
}

TEST_CASE("nodes outlive their builder") {
  NodeRef kept;
  {
    Builder b;
    kept = b.unary(Op::NEG, b.param("x", DType::kF32, {4}));
  }
  CHECK(kept->sources[0]->as<ParamAttr>().name == "x");
}

}  // namespace
}  // namespace tenon
