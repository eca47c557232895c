// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Split reductions: two stages, and the dtype between them.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include <fmt/format.h>

#include "core/ir/verify.hpp"
#include "core/schedule/split_reduction.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

Capabilities with_units(uint32_t units) {
  Capabilities caps = generic_capabilities();
  caps.compute_units = units;
  return caps;
}

/// On two units, after the bits are found to be those of the whole graph.
Schedule on_two_units(Models& m, const Graph& graph, const SymbolValues& symbols = {}) {
  Schedule out = schedule(graph, on_one_device(with_units(2)), m.builder);
  require_same(graph, out, 1, symbols);
  return out;
}

/// The most elements of a buffer that is neither an input nor an output.
int64_t largest_temporary(const Schedule& schedule, const SymbolValues& symbols = {}) {
  int64_t most = 0;
  for (const ScheduledBuffer& b : schedule.buffers)
    if (b.kind == BufferKind::kTemporary) most = std::max(most, product(b.shape).evaluate(symbols));
  return most;
}

TEST_CASE("a full sum is split in blocks and a sum of these") {
  Models m;
  const NodeRef x = m.param("x", {512, 256});
  const Schedule s = on_two_units(m, m.graph("g", {m.builder.reduce(Op::ADD, x, {0, 1})}));
  REQUIRE(kernel_count(s) == 2);
  REQUIRE(largest_temporary(s) == 16);
}

TEST_CASE("what is summed is computed where it is summed") {
  Models m;
  const NodeRef x = m.param("x", {131072});
  const NodeRef square = m.mul(x, x);
  const Schedule s = on_two_units(m, m.graph("g", {m.builder.reduce(Op::ADD, square, {0})}));
  REQUIRE(kernel_count(s) == 2);
  REQUIRE(largest_temporary(s) == 16);
}

TEST_CASE("a mean and what follows it are part of the second stage") {
  Models m;
  const NodeRef sum = m.builder.reduce(Op::ADD, m.param("x", {131072}), {0});
  const Graph g = m.graph("g", {m.builder.unary(Op::SQRT, m.mul(sum, sum))});
  REQUIRE(kernel_count(on_two_units(m, g)) == 2);
}

TEST_CASE("between the stages a narrow float is as wide as its accumulator") {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Models m;
    const NodeRef x = m.param("x", {98304}, dtype);
    const Schedule s = on_two_units(m, m.graph("g", {m.builder.reduce(Op::ADD, x, {0})}));
    for (const ScheduledBuffer& b : s.buffers)
      if (b.kind == BufferKind::kTemporary) REQUIRE(b.dtype == DType::kF32);
    REQUIRE(largest_temporary(s) == 16);
  }
}

TEST_CASE("a length without divisors is padded with what changes nothing") {
  for (const Op op : {Op::ADD, Op::MUL, Op::MAX, Op::MIN}) {
    Models m;
    const NodeRef x = m.param("x", {99991}, DType::kI32);  // a prime
    const NodeRef shifted = m.add(x, m.builder.constant(Scalar::of_int(DType::kI32, 7), x->shape));
    const Schedule s = on_two_units(m, m.graph("g", {m.builder.reduce(op, shifted, {0})}));
    REQUIRE(kernel_count(s) == 2);
    REQUIRE(largest_temporary(s) == 16);
  }
}

TEST_CASE("reductions of one input share both stages") {
  Models m;
  const NodeRef x = m.param("x", {131072});
  const Graph g =
      m.graph("g", {m.builder.reduce(Op::ADD, x, {0}), m.builder.reduce(Op::MAX, x, {0}),
                    m.builder.reduce(Op::ADD, m.mul(x, x), {0})});
  const Schedule s = on_two_units(m, g);
  INFO(print(s));
  REQUIRE(kernel_count(s) == 2);
}

TEST_CASE("a softmax of one long row: both reductions by all units") {
  Models m;
  const Graph g = m.graph("g", {m.softmax(m.param("x", {1, 131072}), 1)});
  const Schedule s = schedule(g, on_one_device(with_units(2)), m.builder);
  int reductions = 0;
  each_kernel(s, [&](const KernelCall& call, int) {
    for (const NodeRef& node : topological(call.graph.outputs))
      reductions += node->op == Op::REDUCE && product(node->shape).value() == 16;
  });
  REQUIRE(reductions == 2);
}

TEST_CASE("axes too short for all blocks are not split") {
  Models m;
  const NodeRef x = m.param("x", {3, 2, 40000});
  const Schedule s = on_two_units(m, m.graph("g", {m.builder.reduce(Op::ADD, x, {0, 1, 2})}));
  REQUIRE(kernel_count(s) == 2);
  REQUIRE(largest_temporary(s) >= 16);
  REQUIRE(largest_temporary(s) <= 64);
}

TEST_CASE("a symbolic axis is whole or left to one unit") {
  const Expr n = Expr::symbol("n", 1, 4096);
  Models m;
  const NodeRef x = m.param("x", {n, Dim(1024)});
  const Graph g = m.graph("g", {m.builder.reduce(Op::ADD, x, {0, 1})}, {n});
  REQUIRE(kernel_count(on_two_units(m, g, {{"n", 5}})) == 2);
  const NodeRef y = m.param("y", {n * 1024});
  const Graph flat = m.graph("g", {m.builder.reduce(Op::ADD, y, {0})}, {n});
  REQUIRE(kernel_count(on_two_units(m, flat, {{"n", 5}})) == 1);
}

TEST_CASE("a product with few results cuts its sum") {
  Models m;
  const Graph g = m.graph("g", {m.matmul(m.param("a", {4, 80000}), m.param("b", {80000, 6}))});
  const Schedule s = on_two_units(m, g);
  REQUIRE(kernel_count(s) == 2);
  REQUIRE(largest_temporary(s) % 24 == 0);
  REQUIRE(largest_temporary(s) <= 24 * 128);
}

/// xᵀ·g: both factors lie across the sum.
NodeRef gradient_of_weights(Models& m, int64_t k) {
  return m.matmul(m.builder.permute(m.param("x", {k, 16}), {1, 0}), m.param("g", {k, 24}));
}

Capabilities with_vectors() {
  Capabilities caps = with_units(1);
  caps.vector_bytes = 64;
  return caps;
}

TEST_CASE("sums of products with results for every unit stay one kernel") {
  const auto kernels = [](Models& m, const NodeRef& y, const Capabilities& caps) {
    return kernel_count(schedule(m.graph("g", {y}), on_one_device(caps), m.builder));
  };
  Models m;
  Capabilities workgroups = with_vectors();
  workgroups.max_workgroup_threads = 256;
  REQUIRE(kernels(m, gradient_of_weights(m, 2048), workgroups) == 1);
  REQUIRE(kernels(m, gradient_of_weights(m, 2048), with_vectors()) == 1);
  const NodeRef x = m.param("x", {16, 2048}), w = m.param("w", {2048, 24});
  REQUIRE(kernels(m, m.matmul(x, w), with_vectors()) == 1);
  const NodeRef turned = m.builder.permute(m.param("v", {24, 2048}), {1, 0});
  REQUIRE(kernels(m, m.matmul(x, turned), with_vectors()) == 1);
}

TEST_CASE("a product of few tiles has its sum cut where workgroups make tiles") {
  Capabilities gpu = with_units(108);
  gpu.max_workgroup_threads = 1024;
  const auto kernels = [&](int64_t rows, int64_t terms, int64_t columns) {
    Models m;
    const NodeRef y = m.matmul(m.param("x", {rows, terms}), m.param("w", {terms, columns}));
    return kernel_count(schedule(m.graph("g", {y}), on_one_device(gpu), m.builder));
  };
  CHECK(kernels(512, 65536, 512) == 2);
  CHECK(kernels(16, 65536, 512) == 2);     // thin: 8 tiles
  CHECK(kernels(4096, 65536, 4096) == 1);  // 1,024 tiles
  CHECK(kernels(512, 2048, 512) == 1);     // the sum is too short
  CHECK(kernels(16, 11008, 4096) == 2);    // 64 thin tiles for 108 units
  CHECK(kernels(16, 11008, 8192) == 1);    // 128
  CHECK(kernels(512, 65537, 512) == 1);    // a prime: operands are taken as they lie
  CHECK(kernels(1024, 4096, 1024) == 2);
  gpu.max_buffer_bytes = 1024 * 4096 * 4;  // holds a factor, but not four times the sums
  CHECK(kernels(1024, 4096, 1024) == 1);
  gpu.max_buffer_bytes *= 2;
  CHECK(kernels(1024, 4096, 1024) == 2);
  gpu.max_buffer_bytes = 0;
  gpu.software = true;
  CHECK(kernels(512, 65536, 512) == 1);
}

TEST_CASE("results that feed the device are left as they are") {
  for (const uint32_t units : {1U, 2U}) {
    Models m;
    const NodeRef x = m.param("x", {units * 2, 70000});
    const NodeRef y = m.param("y", {60000});
    const Graph g = m.graph("g", {m.builder.reduce(Op::ADD, x, {1})});
    REQUIRE(kernel_count(schedule(g, on_one_device(with_units(units)), m.builder)) == 1);
    const Graph little = m.graph("g", {m.builder.reduce(Op::ADD, y, {0})});
    REQUIRE(kernel_count(schedule(little, on_one_device(with_units(units)), m.builder)) == 1);
  }
}

TEST_CASE("random reductions in two stages give the same bits") {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  constexpr DType kTypes[] = {DType::kI32, DType::kU8,  DType::kI64, DType::kBool,
                              DType::kF32, DType::kF16, DType::kBF16};
  size_t staged = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    INFO("seed " << seed);
    Models m;
    const DType dtype = kTypes[below(std::size(kTypes))];
    Shape shape;
    for (uint32_t i = 0; i < 1 + below(3); ++i) shape.push_back(Dim(1 + below(20)));
    std::vector<int> axes;
    for (size_t i = 0; i < shape.size(); ++i)
      if (below(4)) axes.push_back(static_cast<int>(i));
    if (axes.empty()) axes.push_back(0);
    NodeRef x = m.param("x", shape, dtype);
    if (below(2)) x = m.builder.flip(x, {0});
    // Sums of quarters are exact; products of floats are not.
    const Op ops[] = {Op::ADD, Op::MAX, dtype == DType::kBool ? Op::ADD : Op::MIN, Op::MUL};
    const NodeRef y = m.builder.reduce(ops[below(is_float(dtype) ? 3 : 4)], x, axes);
    const Graph g = m.graph("g", {m.builder.reduce(Op::MAX, m.builder.expand(y, shape), axes), y});
    ScheduleOptions options = on_one_device(with_units(2 + below(7)));
    const auto two = scheduling::split_reductions(scheduling::SchedulerInput(g, options), m.builder,
                                                  {.long_row = 4, .shortest_block = 1});
    if (!two) continue;
    ++staged;
    verify(*two);
    const std::vector<Array> inputs = some_inputs(g, seed);
    const std::vector<Array> expected = evaluate(g, inputs), got = evaluate(*two, inputs);
    for (size_t o = 0; o < expected.size(); ++o) {
      REQUIRE(got[o].dtype == expected[o].dtype);
      REQUIRE(got[o].shape == expected[o].shape);
      REQUIRE(got[o].bytes == expected[o].bytes);
    }
    require_same(*two, schedule(*two, options, m.builder), seed);
  }
  CHECK(staged > 200);
}

TEST_CASE("where a driver ends long loops every sum is split, of a product too") {
  for (const int64_t length : {4000, 1009}) {  // 1009 is a prime
    Models m;
    const NodeRef x = m.param("x", {40, length}), w = m.param("w", {length, 48});
    const Graph g = m.graph("g", {m.matmul(x, w), m.builder.reduce(Op::ADD, x, {1})});
    ScheduleOptions options = on_one_device(with_units(2));
    CHECK(kernel_count(schedule(g, options, m.builder)) == 2);
    Capabilities changed = options.devices[0].capabilities;
    changed.max_loop_trips = 1000;
    options.devices[0].capabilities = changed;
    const Schedule cut = schedule(g, options, m.builder);
    CHECK(kernel_count(cut) == 4);
    CHECK(largest_temporary(cut) <= (length / 250 + 4) * 40 * 48);
    require_same(g, cut, 1);
  }
}

}  // namespace
}  // namespace tenon::test
