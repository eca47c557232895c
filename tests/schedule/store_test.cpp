// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// STORE: in place where nobody sees it, on a copy otherwise; inputs are never written.
#include <catch2/catch_test_macros.hpp>

#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

struct Parts {
  Models m;
  NodeRef x = m.param("x", {6, 4});
  NodeRef index = m.builder.cast(m.param("i", {3, 4}), DType::kI64);
  NodeRef values = m.param("v", {3, 4});

  NodeRef store(NodeRef into) { return m.builder.store(into, index, values, 0, StoreMode::kAdd); }
  Schedule scheduled(const Graph& g) {
    Schedule out = schedule(g, on_one_device(), m.builder);
    require_same(g, out, 3);
    return out;
  }
};

TEST_CASE("on GPUs a scatter-add of few threads is split") {
  uint64_t most_bytes = 0;
  const auto kernels = [&](bool gpu, int64_t length, int64_t beside, DType dtype, StoreMode mode) {
    Capabilities caps = generic_capabilities();
    caps.max_buffer_bytes = most_bytes;
    caps.compute_units = 100;
    if (gpu) caps.max_workgroup_threads = 1024;
    Models m;
    const Shape index{Dim(length), Dim(beside)}, into{Dim(50), Dim(beside)};
    const NodeRef i = m.builder.cast(m.param("i", index), DType::kI64);
    const NodeRef v = m.builder.cast(m.param("v", index), dtype);
    const NodeRef x = m.builder.cast(m.param("x", into), dtype);
    const Graph g = m.graph("g", {m.builder.store(x, i, v, 0, mode)});
    const Schedule s = schedule(g, on_one_device(caps), m.builder);
    require_same(g, s, 2);
    return kernel_count(s);
  };
  const int whole = kernels(false, 5003, 1, DType::kF32, StoreMode::kAdd);
  CHECK(kernels(true, 5003, 1, DType::kF32, StoreMode::kAdd) > whole);
  CHECK(kernels(true, 5003, 3, DType::kI32, StoreMode::kAdd) >
        kernels(false, 5003, 3, DType::kI32, StoreMode::kAdd));
  CHECK(kernels(true, 5003, 1, DType::kF32, StoreMode::kLast) == whole);  // no sum
  CHECK(kernels(true, 100, 1, DType::kF32, StoreMode::kAdd) == whole);    // short
  most_bytes = 5003 * 8;  // holds the index, and copies that are as large
  CHECK(kernels(true, 5003, 1, DType::kF32, StoreMode::kAdd) > whole);
}

TEST_CASE("a store into an input goes to a copy") {
  Parts p;
  const Schedule s = p.scheduled(p.m.graph("g", {p.store(p.x)}));
  REQUIRE(copy_count(s) == 1);
  REQUIRE(kernel_count(s) == 1);
}

TEST_CASE("a store into a temporary that ends there is in place") {
  Parts p;
  const Schedule s = p.scheduled(p.m.graph("g", {p.store(p.m.exp(p.x))}));
  REQUIRE(copy_count(s) == 0);
  REQUIRE(kernel_count(s) == 2);
  REQUIRE(kernel(s, 1).inputs[0] == kernel(s, 1).outputs[0]);
}

TEST_CASE("stores in sequence are in place") {
  Parts p;
  const Schedule s = p.scheduled(p.m.graph("g", {p.store(p.store(p.m.number(0, {6, 4})))}));
  REQUIRE(copy_count(s) == 0);
  REQUIRE(kernel_count(s) == 3);
}

TEST_CASE("a store into what is read later, or is an output, goes to a copy") {
  Parts p;
  const NodeRef e = p.m.exp(p.x);
  REQUIRE(copy_count(p.scheduled(p.m.graph("g", {p.m.add(p.store(e), e)}))) == 1);
  REQUIRE(copy_count(p.scheduled(p.m.graph("g", {p.store(e), e}))) == 1);
}

TEST_CASE("a store whose values come from what it updates goes to a copy") {
  Parts p;
  const NodeRef e = p.m.exp(p.x);
  const NodeRef part = p.m.builder.shrink(e, {{1, 4}, {0, 4}});
  const NodeRef store = p.m.builder.store(e, p.index, part, 0, StoreMode::kLast);
  REQUIRE(copy_count(p.scheduled(p.m.graph("g", {store}))) == 1);
}

TEST_CASE("index and values are computed in the store's kernel, reductions before it") {
  Parts p;
  const NodeRef sum = p.m.builder.reduce(Op::ADD, p.m.param("w", {3, 4, 5}), {2});
  const NodeRef values = p.m.add(p.m.exp(p.values), p.m.builder.reshape(sum, {3, 4}));
  const NodeRef store =
      p.m.builder.store(p.m.number(0, {6, 4}), p.index, values, 0, StoreMode::kAdd);
  const Schedule s = p.scheduled(p.m.graph("g", {store}));
  REQUIRE(kernel_count(s) == 3);
  REQUIRE(copy_count(s) == 0);
}

TEST_CASE("outputs that are params, constants, repeated or views") {
  Parts p;
  const NodeRef y = p.m.exp(p.x);
  const NodeRef flat = p.m.builder.reshape(p.m.softmax(p.x, 1), {24});
  const Graph g = p.m.graph("g", {p.x, p.m.number(2, {3}), y, y, p.m.builder.permute(p.x, {1, 0}),
                                  p.m.builder.reshape(p.x, {24}), flat});
  const Schedule s = p.scheduled(g);
  REQUIRE(s.outputs[0] == s.inputs[0]);
  REQUIRE(s.outputs[2] == s.outputs[3]);
  // constant, exp, turned, reshaped input; a reshaped softmax is its own buffer
  REQUIRE(kernel_count(s) <= 5);
}

TEST_CASE("a reshaped result needs no copy") {
  Models m;
  const Graph g = m.graph("g", {m.builder.reshape(m.softmax(m.param("x", {6, 4}), 1), {2, 3, 4})});
  const Schedule s = schedule(g, on_one_device(), m.builder);
  REQUIRE(kernel_count(s) == 1);
  require_same(g, s, 1);
}

}  // namespace
}  // namespace tenon::test
