// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes one kernel, and what must not.
#include <catch2/catch_test_macros.hpp>

#include "core/rewrite/passes.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

Schedule scheduled(Models& m, const Graph& graph,
                   const Capabilities& caps = generic_capabilities()) {
  Schedule out = schedule(graph, on_one_device(caps), m.builder);
  require_same(graph, out, 1);
  return out;
}

TEST_CASE("softmax over a row is one kernel") {
  Models m;
  const Graph g = m.graph("softmax", {m.softmax(m.param("x", {6, 17}), 1)});
  REQUIRE(kernel_count(scheduled(m, g)) == 1);
}

TEST_CASE("softmax over columns is one kernel where there are many, or few elements") {
  Models m;
  const auto kernels = [&](const Shape& shape, int axis) {
    const Graph g = m.graph("softmax", {m.softmax(m.param("x", shape), axis)});
    return kernel_count(scheduled(m, g));
  };
  CHECK(kernels({6, 17}, 0) == 1);
  CHECK(kernels({5, 3}, 0) == 1);
  CHECK(kernels({64, 128}, 0) == 1);
  CHECK(kernels({2, 48, 64}, 1) == 1);
  // Lanes of three columns would be idle.
  CHECK(kernels({3000, 3}, 0) == 4);
}

TEST_CASE("a reduction is in one kernel with the pad after it, unless that adds many rows") {
  Models m;
  const NodeRef x = m.param("x", {40, 64});
  const NodeRef sum = m.builder.reduce(Op::ADD, x, {1});
  const auto padded = [&](const Dim& before, const Dim& after) {
    return m.builder.pad(sum, {{before, after}, {0, 0}}, Scalar::of(DType::kF32, 3));
  };
  CHECK(kernel_count(scheduled(m, m.graph("pad", {padded(1, 2)}))) == 1);
  const NodeRef flat = m.builder.reshape(sum, {40});
  const NodeRef wide = m.builder.pad(flat, {{0, 5}}, zero(DType::kF32));
  CHECK(kernel_count(scheduled(m, m.graph("pad", {m.exp(wide)}))) == 1);
  CHECK(kernel_count(scheduled(m, m.graph("pad", {padded(0, 400)}))) == 2);
}

TEST_CASE("a slice of a concatenation binds only the parts that it reads") {
  Models m;
  Builder& b = m.builder;
  const auto joined = [&](const NodeRef& x, const NodeRef& y) {
    const Dim before = x->shape[0], after = y->shape[0];
    const Shape both{before + after};
    const NodeRef is_first =
        b.binary(Op::CMPLT, b.index(0, both, DType::kI64),
                 b.constant(Scalar::of_int(DType::kI64, before.value()), both));
    return b.where(is_first, b.pad(x, {{0, after}}, zero(DType::kF32)),
                   b.pad(y, {{before, 0}}, zero(DType::kF32)));
  };
  const NodeRef x = m.param("x", {5}), y = m.param("y", {6}), z = m.param("z", {7}),
                w = m.param("w", {8});
  const NodeRef all = joined(joined(x, y), joined(z, w));
  const auto bound = [&](int64_t begin, int64_t end) {
    const Graph g = simplify(m.graph("slice", {b.shrink(all, {{begin, end}})}), b);
    const Schedule s = scheduled(m, g);
    REQUIRE(kernel_count(s) <= 1);
    std::string names;
    if (kernel_count(s) == 1)
      for (const NodeRef& param : kernel(s, 0).graph.params) names += param->as<ParamAttr>().name;
    return names;
  };
  CHECK(bound(0, 3) == "x");
  CHECK(bound(6, 11) == "y");
  CHECK(bound(3, 9) == "xy");
  CHECK(bound(9, 13) == "yz");
  CHECK(bound(4, 12) == "xyz");
  CHECK(bound(19, 26) == "w");
}

TEST_CASE("layer norm over a row is one kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 16}), g = m.param("g", {16}), b = m.param("b", {16});
  const Graph graph = m.graph("layer_norm", {m.layer_norm(x, g, b)});
  REQUIRE(kernel_count(scheduled(m, graph)) == 1);
}

TEST_CASE("matmul, bias and gelu are one kernel") {
  Models m;
  const Graph g = m.graph("mlp", {m.gelu(m.linear("l", m.param("x", {5, 7}), 9))});
  REQUIRE(kernel_count(scheduled(m, g)) == 1);
}

TEST_CASE("log-sum-exp of rows is one kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 17});
  const NodeRef peak = m.builder.reduce(Op::MAX, x, {1});
  const NodeRef e = m.exp(m.minus(x, m.builder.expand(peak, x->shape)));
  const NodeRef sum = m.builder.reduce(Op::ADD, e, {1});
  const Graph g = m.graph("lse", {m.add(m.builder.unary(Op::LOG2, sum), peak)});
  REQUIRE(kernel_count(scheduled(m, g)) == 1);
}

TEST_CASE("a matmul feeds a softmax, and a softmax a matmul, through memory") {
  Models m;
  const NodeRef a = m.param("a", {6, 8}), b = m.param("b", {8, 5}), c = m.param("c", {5, 4});
  const Graph g = m.graph("attention", {m.matmul(m.softmax(m.scaled(m.matmul(a, b), 2), 1), c)});
  const Schedule s = scheduled(m, g);
  REQUIRE(kernel_count(s) == 3);
  // The scaling belongs to the first matmul, not to each pass of the softmax.
  REQUIRE(kernel(s, 0).graph.outputs[0]->op == Op::MUL);
}

TEST_CASE("an expensive operand of a matmul is computed once") {
  Models m;
  const NodeRef a = m.exp(m.param("a", {6, 8}));
  const Graph g = m.graph("g", {m.matmul(a, m.param("b", {8, 5}))});
  REQUIRE(kernel_count(scheduled(m, g)) == 2);
}

TEST_CASE("a cast operand of a matmul is not worth a round trip") {
  Models m;
  const NodeRef a = m.builder.cast(m.param("a", {6, 8}, DType::kF16), DType::kF32);
  const Graph g = m.graph("g", {m.matmul(m.scaled(a, 2), m.param("b", {8, 5}))});
  REQUIRE(kernel_count(scheduled(m, g)) == 1);
}

Capabilities gpu() {
  Capabilities caps = generic_capabilities();
  caps.max_workgroup_threads = 1024;
  return caps;
}

TEST_CASE("on GPUs what is narrow has the buffer, not its cast that products take") {
  const auto materialised = [](const Capabilities& caps) {
    Models m;
    const NodeRef narrow = m.builder.cast(m.exp(m.param("a", {6, 8})), DType::kF16);
    const NodeRef a = m.builder.cast(narrow, DType::kF32);
    const NodeRef product = m.matmul(a, m.param("b", {8, 5}));
    const Schedule s =
        scheduled(m, m.graph("g", {product, m.matmul(a, m.param("c", {8, 7}))}), caps);
    for (const ScheduledBuffer& b : s.buffers)
      if (b.kind == BufferKind::kTemporary) return b.dtype;
    return DType::kVoid;
  };
  CHECK(materialised(gpu()) == DType::kF16);
  CHECK(materialised(generic_capabilities()) == DType::kF32);
  // Scaled, but for products, whose factors are loads.
  const auto scaled = [](bool product) {
    Models m;
    const NodeRef narrow =
        m.builder.cast(m.matmul(m.param("a", {6, 8}), m.param("w", {8, 8})), DType::kF16);
    const NodeRef x = m.scaled(m.builder.cast(narrow, DType::kF32), 0.25);
    const NodeRef y = product ? m.matmul(x, m.param("b", {8, 5})) : m.softmax(x, 1);
    for (const ScheduledBuffer& b : scheduled(m, m.graph("g", {y}), gpu()).buffers)
      if (b.kind == BufferKind::kTemporary) return b.dtype;
    return DType::kVoid;
  };
  CHECK(scaled(false) == DType::kF16);
  CHECK(scaled(true) == DType::kF32);
}

TEST_CASE("on GPUs a short elementwise run is recomputed by each kernel that reads it") {
  const auto kernels = [](const Capabilities& caps) {
    Models m;
    const NodeRef e = m.exp(m.param("x", {40, 50}));
    const std::vector<NodeRef> sums = {m.builder.reduce(Op::ADD, e, {0}),
                                       m.builder.reduce(Op::ADD, e, {1})};
    return kernel_count(scheduled(m, m.graph("g", sums), caps));
  };
  CHECK(kernels(gpu()) == 2);
  CHECK(kernels(generic_capabilities()) == 3);
}

/// Weights [k, n] of blocks of a scale and 16 bytes of `from`.
NodeRef of_blocks(Models& m, const NodeRef& blocks, int64_t k, int64_t n) {
  Builder& b = m.builder;
  const NodeRef rows = b.reshape(blocks, {n, k / 16, 17});
  const NodeRef scale = b.cast(b.shrink(rows, {{0, n}, {0, k / 16}, {0, 1}}), DType::kF32);
  const NodeRef bytes = b.cast(b.shrink(rows, {{0, n}, {0, k / 16}, {1, 17}}), DType::kF32);
  const NodeRef weights = m.mul(bytes, b.expand(scale, bytes->shape));
  return b.permute(b.reshape(weights, {n, k}), {1, 0});
}

TEST_CASE("quantised weights are a fused prologue of products") {
  Capabilities threads = generic_capabilities();
  threads.max_workgroup_threads = 256;
  threads.max_shared_bytes = 32 << 10;
  Models m;
  const NodeRef blocks = m.param("w", {6, 34}, DType::kI8);
  const NodeRef w = of_blocks(m, blocks, 32, 6);
  const NodeRef y = m.matmul(m.param("x", {5, 32}), w);
  const Schedule one = scheduled(m, m.graph("g", {y}), threads);
  REQUIRE(kernel_count(one) == 1);
  for (const ScheduledBuffer& buffer : one.buffers) CHECK(buffer.kind != BufferKind::kTemporary);
  // Two products read the blocks; none reads numbers.
  const Graph both = m.graph("g", {y, m.matmul(m.param("z", {4, 32}), w)});
  const Schedule two = scheduled(m, both, threads);
  REQUIRE(kernel_count(two) == 2);
  for (const ScheduledBuffer& buffer : two.buffers) CHECK(buffer.kind != BufferKind::kTemporary);
  // What is an output is in memory anyway.
  CHECK(kernel_count(scheduled(m, m.graph("g", {y, w}), threads)) == 2);
  // An expensive factor is materialised.
  const Graph expensive = m.graph("g", {m.matmul(m.param("x", {5, 32}), m.exp(m.exp(w)))});
  CHECK(kernel_count(scheduled(m, expensive, threads)) == 2);
  // Without tiles, every row would compute them anew.
  threads.max_shared_bytes = 0;
  CHECK(kernel_count(scheduled(m, m.graph("g", {y}), threads)) == 2);
}

TEST_CASE("a residual that several kernels read is written once, as an epilogue") {
  Models m;
  const NodeRef x = m.param("x", {6, 8});
  const NodeRef h = m.add(x, m.linear("l", x, 8));
  const NodeRef n = m.layer_norm(h, m.param("g", {8}), m.param("c", {8}));
  const Graph g = m.graph("g", {m.add(h, m.linear("k", n, 8))});
  REQUIRE(kernel_count(scheduled(m, g)) == 3);
}

TEST_CASE("outputs over one shape and one input share a kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 8});
  const NodeRef e = m.exp(x);
  const Graph g = m.graph("g", {m.add(e, x), m.mul(e, x), m.gelu(x)});
  const Schedule s = scheduled(m, g);
  REQUIRE(kernel_count(s) == 1);
  REQUIRE(kernel(s, 0).outputs.size() == 3);
  REQUIRE(kernel(s, 0).inputs.size() == 1);
}

TEST_CASE("reductions of one row with one result each share a kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 8});
  const Graph g =
      m.graph("g", {m.builder.reduce(Op::ADD, x, {1}), m.builder.reduce(Op::MAX, x, {1})});
  REQUIRE(kernel_count(scheduled(m, g)) == 1);
}

TEST_CASE("reductions over different axes do not share a kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 8});
  const NodeRef rows = m.builder.reduce(Op::ADD, x, {1});
  const NodeRef columns = m.builder.reduce(Op::ADD, x, {0});
  const Graph g = m.graph("g", {m.mul(m.mul(x, m.builder.expand(rows, x->shape)),
                                      m.builder.expand(columns, x->shape))});
  REQUIRE(kernel_count(scheduled(m, g)) >= 2);
}

TEST_CASE("a reduction of a reduction is two kernels") {
  Models m;
  const NodeRef x = m.param("x", {6, 8});
  const NodeRef rows = m.exp(m.builder.reduce(Op::ADD, x, {1}));
  const Graph g = m.graph("g", {m.builder.reduce(Op::ADD, rows, {0})});
  REQUIRE(kernel_count(scheduled(m, g)) == 2);
}

TEST_CASE("one long row alone keeps its reductions apart, so that all cores work") {
  Models m;
  Capabilities caps = generic_capabilities();
  caps.compute_units = 2;
  const Graph g = m.graph("g", {m.softmax(m.param("x", {1, 200000}), 1)});
  REQUIRE(kernel_count(schedule(g, on_one_device(caps), m.builder)) > 1);
}

TEST_CASE("without fusion each node is a kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 8});
  const Graph g = m.graph("g", {m.exp(m.add(x, x))});
  ScheduleOptions options = on_one_device();
  options.fuse = false;
  const Schedule s = schedule(g, options, m.builder);
  REQUIRE(kernel_count(s) == 3);
  require_same(g, s, 1);
}

TEST_CASE("moves cost no kernel") {
  Models m;
  const NodeRef x = m.param("x", {6, 8}), y = m.param("y", {8, 6});
  const NodeRef turned = m.builder.flip(m.builder.permute(y, {1, 0}), {0});
  const NodeRef padded = m.builder.pad(m.builder.shrink(x, {{1, 5}, {0, 8}}), {{1, 1}, {0, 0}},
                                       Scalar::of(DType::kF32, 3));
  REQUIRE(kernel_count(scheduled(m, m.graph("g", {m.add(turned, padded)}))) == 1);
}

TEST_CASE("a transformer of 4 layers: eleven kernels a layer") {
  Models m;
  const Graph g = m.transformer(4, 8, 16, 2);
  const Schedule s = scheduled(m, g);
  INFO(print(s));
  // norm, q, k, v, scores, softmax, mix, out + residual, norm, up + gelu, down + residual
  REQUIRE(kernel_count(s) == 4 * 11);
}

TEST_CASE("what contractions repeat is stored once, not repeated") {
  Models m;
  NodeRef moved = m.param("x", {6, 8});
  for (int i = 0; i < 20; ++i) moved = m.builder.permute(m.builder.flip(moved, {i % 2}), {1, 0});
  const NodeRef a = m.param("a", {5, 6}), b = m.param("b", {7, 6});
  const Graph g = m.graph("g", {m.matmul(a, moved), m.scaled(m.matmul(b, moved), 2)});
  const Schedule s = scheduled(m, g);
  REQUIRE(kernel_count(s) == 3);
  for (size_t i = 0; i < 3; ++i)
    for (const NodeRef& made : kernel(s, i).graph.outputs)
      CHECK(product(made->shape).value() <= 56);
}

TEST_CASE("symbolic rows fuse like fixed ones") {
  Models m;
  const Expr n = Expr::symbol("n", 1, 4096);
  const Graph g = m.graph("softmax", {m.softmax(m.param("x", {n, 10}), 1)}, {n});
  const Schedule s = schedule(g, on_one_device(), m.builder);
  REQUIRE(kernel_count(s) == 1);
  REQUIRE(kernel(s, 0).graph.symbols.size() == 1);
  for (int64_t value : {1, 3, 8}) require_same(g, s, 1, {{"n", value}});
}

}  // namespace
}  // namespace tenon::test
