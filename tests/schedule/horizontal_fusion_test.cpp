// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Horizontal fusion: independent small kernels are sections of one launch.
#include <catch2/catch_test_macros.hpp>

#include <fmt/format.h>

#include "core/schedule/uses.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

using Outputs = std::vector<NodeRef>;

/// What becomes of weight, moment and gradient number i, of the shape.
void add_update(Models& m, int i, const Shape& shape, Outputs& out) {
  const NodeRef w = m.param(fmt::format("w{}", i), shape),
                v = m.param(fmt::format("v{}", i), shape),
                g = m.param(fmt::format("g{}", i), shape);
  const NodeRef v1 = m.add(m.scaled(v, 0.5), g);
  out.push_back(m.add(w, m.scaled(v1, -0.25)));
  out.push_back(v1);
}

Shape shape_of(int i) {
  if (i % 3 == 0) return {Expr(2 + i)};
  if (i % 3 == 1) return {Expr(3), Expr(1 + i)};
  return {Expr(2), Expr(1), Expr(3), Expr(1 + i % 5)};
}

Graph updates(Models& m, int count) {
  Outputs out;
  for (int i = 0; i < count; ++i) add_update(m, i, shape_of(i), out);
  return m.graph("updates", out);
}

Schedule scheduled_with(Models& m, const Graph& g,
                        const ScheduleOptions& options = on_one_device()) {
  Schedule out = schedule(g, options, m.builder);
  require_same(g, out, 3, {}, options.input_places);
  return out;
}

TEST_CASE("a hundred updates are few kernels, each of several sections") {
  Models m;
  const Schedule s = scheduled_with(m, updates(m, 100));
  CHECK(kernel_count(s) <= 10);
  for (int k = 0; k < kernel_count(s); ++k) {
    const KernelCall& call = kernel(s, k);
    for (const int outputs : call.sections) CHECK(outputs == 2);
    CHECK(2 * std::max<size_t>(1, call.sections.size()) == call.outputs.size());
  }
}

TEST_CASE("a few updates, and cuts without fusion, stay as they are") {
  Models m;
  CHECK(kernel_count(scheduled_with(m, updates(m, 3))) == 3);
  CHECK(kernel_count(scheduled_with(m, updates(m, 4))) == 1);
  ScheduleOptions apart = on_one_device();
  apart.fuse = false;
  const Schedule s = scheduled_with(m, updates(m, 8), apart);
  for (int k = 0; k < kernel_count(s); ++k) CHECK(kernel(s, k).sections.empty());
}

TEST_CASE("sections overwrite the state that is donated to them") {
  Models m;
  const Graph g = updates(m, 20);
  ScheduleOptions options = on_one_device();
  options.input_places.assign(g.params.size(), InputPlace(0, InputPlace::kForAny));
  const Schedule s = scheduled_with(m, g, options);
  CHECK(kernel_count(s) == 2);
  CHECK(scheduling::inputs_written(s).size() == 40);
}

TEST_CASE("a section overwrites what only it reads") {
  Models m;
  Outputs out;
  for (int i = 0; i < 6; ++i) add_update(m, i, {Expr(6)}, out);
  const Graph g = m.graph("equal", out);
  ScheduleOptions options = on_one_device();
  options.input_places.assign(g.params.size(), InputPlace(0, InputPlace::kForAny));
  const Schedule s = scheduled_with(m, g, options);
  REQUIRE(kernel_count(s) == 1);
  const KernelCall& call = kernel(s, 0);
  REQUIRE(call.sections.size() == 6);
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    REQUIRE(call.alias[o] >= 0);
    const auto& name = call.graph.params[static_cast<size_t>(call.alias[o])]->as<ParamAttr>().name;
    CHECK(name.substr(1) == std::to_string(o / 2));
  }
}

TEST_CASE("what two sections read is not written over") {
  Models m;
  const NodeRef shared = m.param("s", {6});
  Outputs out;
  for (int i = 0; i < 5; ++i) add_update(m, i, {Expr(30 + i)}, out);
  // Both read it at their own position.
  out.push_back(m.exp(shared));
  out.push_back(m.scaled(m.builder.reshape(shared, {Expr(6), Expr(1)}), 2));
  const Graph g = m.graph("shared", out);
  ScheduleOptions options = on_one_device();
  options.input_places.assign(g.params.size(), InputPlace(0, InputPlace::kForAny));
  const Schedule s = scheduled_with(m, g, options);
  REQUIRE(kernel_count(s) == 1);
  CHECK(kernel(s, 0).sections.size() == 7);
  CHECK(scheduling::inputs_written(s).size() == 10);
}

TEST_CASE("kernels that wait for one another, reduce or read elsewhere stay apart") {
  Models m;
  const auto sections = [&](const std::function<NodeRef(int, const NodeRef&)>& update) {
    Outputs out;
    for (int i = 0; i < 6; ++i)
      out.push_back(update(i, m.param(fmt::format("x{}", i), {Expr(4 + i), Expr(5)})));
    size_t most = 0;
    const Schedule s = scheduled_with(m, m.graph("g", out));
    for (int k = 0; k < kernel_count(s); ++k) most = std::max(most, kernel(s, k).sections.size());
    return most;
  };
  CHECK(sections([&](int, const NodeRef& x) { return m.exp(x); }) == 6);
  CHECK(sections([&](int, const NodeRef& x) { return m.builder.reduce(Op::ADD, x, {1}); }) == 0);
  CHECK(sections([&](int, const NodeRef& x) { return m.add(x, m.builder.flip(x, {0})); }) == 0);
  // Each a part of the next one's operand.
  NodeRef last = m.param("first", {Expr(4), Expr(5)});
  CHECK(sections([&](int i, const NodeRef& x) {
          if (i > 0) last = m.builder.pad(last, {{0, 1}, {0, 0}}, Scalar::of(DType::kF32, 1));
          return last = m.builder.reduce(Op::MAX, m.add(x, last), {1}),
                 last = m.builder.expand(last, x->shape);
        }) == 0);
}

TEST_CASE("large kernels whose operands are computed are launched when these are there") {
  Models m;
  const auto sections = [&](int64_t size, bool computed) {
    Outputs out;
    for (int i = 0; i < 4; ++i) {
      NodeRef x = m.param(fmt::format("x{}", i), {Expr(size + i), Expr(2)});
      // A gradient that other kernels make: its reader is at another position of it.
      if (computed) {
        const NodeRef index =
            m.builder.cast(m.param(fmt::format("i{}", i), {Expr(1), Expr(2)}), DType::kI64);
        x = m.builder.store(x, index, m.param(fmt::format("v{}", i), {Expr(1), Expr(2)}), 0,
                            StoreMode::kAdd);
      }
      out.push_back(m.add(m.param(fmt::format("w{}", i), x->shape), x));
    }
    const Schedule s = schedule(m.graph("g", out), on_one_device(), m.builder);
    size_t most = 0;
    for (int k = 0; k < kernel_count(s); ++k) most = std::max(most, kernel(s, k).sections.size());
    return most;
  };
  CHECK(sections(1000, true) == 4);
  CHECK(sections(1 << 20, true) == 0);
  CHECK(sections(1 << 20, false) == 4);
}

TEST_CASE("sections are as many as the device has room for") {
  Models m;
  const Graph g = updates(m, 20);
  Capabilities few = generic_capabilities();
  few.max_bindings = 12;  // of five each
  const Schedule bound = scheduled_with(m, g, on_one_device(few));
  CHECK(kernel_count(bound) == 10);
  few.max_bindings = 8;
  CHECK(kernel_count(scheduled_with(m, g, on_one_device(few))) == 20);
  few = generic_capabilities();
  few.max_grid[0] = 4;
  const Schedule grid = scheduled_with(m, g, on_one_device(few));
  CHECK(kernel_count(grid) == 5);
}

TEST_CASE("sections are of one device") {
  Models m;
  const Graph g = updates(m, 20);
  ScheduleOptions options = on_one_device();
  options.devices.push_back({"null:0", generic_capabilities()});
  for (size_t i = 0; i < g.params.size(); ++i)
    options.input_places.emplace_back(static_cast<int>(i / 3 % 2));
  const Schedule s = scheduled_with(m, g, options);
  for (const Step& step : s.steps) {
    if (const auto* call = std::get_if<KernelCall>(&step.call))
      for (const int b : call->inputs)
        CHECK(s.buffers[static_cast<size_t>(b)].device == step.device);
  }
}

TEST_CASE("sizes that are symbols are kernels of their own") {
  Models m;
  const Expr n = Expr::symbol("n", 1, 64);
  Outputs out;
  for (int i = 0; i < 6; ++i) add_update(m, i, {n, Expr(1 + i)}, out);
  const Graph g = m.graph("updates", out, {n});
  const Schedule s = schedule(g, on_one_device(), m.builder);
  require_same(g, s, 3, {{"n", 5}});
  CHECK(kernel_count(s) == 6);
}

}  // namespace
}  // namespace tenon::test
