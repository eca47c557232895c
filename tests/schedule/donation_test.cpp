// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Donated inputs: outputs take their buffers.
#include <catch2/catch_test_macros.hpp>

#include "core/schedule/uses.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

constexpr int kAny = InputPlace::kForAny;

/// With all inputs donated.
Schedule scheduled_with_donation(Models& m, const Graph& g) {
  ScheduleOptions options = on_one_device();
  options.input_places.assign(g.params.size(), InputPlace(0, kAny));
  Schedule out = schedule(g, options, m.builder);
  require_same(g, out, 3, {}, options.input_places);
  return out;
}

TEST_CASE("an optimizer's step overwrites its donated state") {
  Models m;
  const NodeRef w = m.param("w", {6, 4}), v = m.param("v", {6, 4}), g = m.param("g", {6, 4});
  const NodeRef v1 = m.add(m.mul(v, m.number(0.5, {6, 4})), g);
  const NodeRef w1 = m.add(w, m.mul(v1, m.number(-0.25, {6, 4})));
  const Schedule s = scheduled_with_donation(m, m.graph("step", {w1, v1}));
  CHECK(kernel_count(s) == 1);
  CHECK(scheduling::inputs_written(s).size() == 2);
  CHECK(s.outputs[0] != s.outputs[1]);
  for (const int b : s.outputs) CHECK(s.buffers[static_cast<size_t>(b)].kind == BufferKind::kInput);
}

TEST_CASE("what is read elsewhere, or is an output, is not written over") {
  Models m;
  const NodeRef x = m.param("x", {6, 4});
  const NodeRef turned = m.builder.flip(x, {0});
  CHECK(scheduling::inputs_written(scheduled_with_donation(m, m.graph("g", {m.add(x, turned)})))
            .empty());
  CHECK(
      scheduling::inputs_written(scheduled_with_donation(m, m.graph("g", {m.exp(x), x}))).empty());
  const NodeRef total = m.builder.reduce(Op::ADD, m.exp(x), {0, 1});
  const NodeRef all = m.builder.expand(total, x->shape);
  CHECK(scheduling::inputs_written(scheduled_with_donation(m, m.graph("g", {m.add(m.exp(x), all)})))
            .size() <= 1);
}

TEST_CASE("a store into a donated input is one kernel and no copy") {
  Models m;
  const NodeRef x = m.param("x", {6, 4}), values = m.param("v", {3, 4});
  const NodeRef index = m.builder.cast(m.param("i", {3, 4}), DType::kI64);
  const NodeRef stored = m.builder.store(x, index, values, 0, StoreMode::kAdd);
  const Schedule s = scheduled_with_donation(m, m.graph("g", {stored}));
  CHECK(copy_count(s) == 0);
  CHECK(s.outputs[0] == s.inputs[0]);
  const NodeRef twice = m.builder.store(stored, index, values, 0, StoreMode::kLast);
  CHECK(copy_count(scheduled_with_donation(m, m.graph("g", {twice}))) == 0);
  CHECK(copy_count(scheduled_with_donation(m, m.graph("g", {twice, m.exp(stored)}))) == 1);
  CHECK(copy_count(scheduled_with_donation(
            m, m.graph("g", {m.builder.store(x, index, m.builder.shrink(x, {{1, 4}, {0, 4}}), 0,
                                             StoreMode::kAdd)}))) == 1);
}

/// Of (i, a, b): what becomes of a and b.
Graph loop(Models& m, const std::function<std::vector<NodeRef>(NodeRef, NodeRef, NodeRef)>& next) {
  auto body = std::make_shared<Graph>();
  const NodeRef i = m.builder.param("i", DType::kI64, {}), a = m.param("a", {6, 4}),
                b = m.param("b", {6, 4});
  body->params = {i, a, b};
  body->outputs = next(i, a, b);
  body->output_names.resize(2);
  const NodeRef n = m.builder.constant(Scalar::of_int(DType::kI64, 3));
  std::vector<NodeRef> results;
  for (int r = 0; r < 2; ++r)
    results.push_back(
        m.builder.loop(n, {m.param("x", {6, 4}), m.param("y", {6, 4})}, {}, body, false, r));
  return m.graph("g", results);
}

std::vector<int> written_in_body(Models& m, const Graph& g) {
  const Schedule s = scheduled_with_donation(m, g);
  for (const Step& step : s.steps)
    if (const auto* call = std::get_if<LoopCall>(&step.call))
      return scheduling::inputs_written(*call->body);
  FAIL("no loop");
  return {};
}

TEST_CASE("a loop writes its state in place, each value in its own") {
  Models m;
  const auto row_of = [&](const NodeRef& i) {
    return m.builder.expand(m.builder.reshape(i, {Expr(1), Expr(1)}), {Expr(1), Expr(4)});
  };
  CHECK(written_in_body(m, loop(m, [&](const auto& i, const auto& a, const auto& b) {
                          const NodeRef row = m.builder.shrink(b, {{0, 1}, {0, 4}});
                          return std::vector{
                              m.builder.store(a, row_of(i), row, 0, StoreMode::kLast), m.add(b, b)};
                        })) == std::vector{1, 2});
  // Swapped: neither overwrites the other's buffer.
  CHECK(written_in_body(m, loop(m,
                                [&](const auto&, const auto& a, const auto& b) {
                                  return std::vector{m.exp(b), m.exp(a)};
                                }))
            .empty());
  CHECK(written_in_body(m, loop(m,
                                [&](const auto&, const auto& a, const auto& b) {
                                  return std::vector{b, m.add(a, b)};
                                }))
            .empty());
  CHECK(written_in_body(m, loop(m,
                                [&](const auto&, const auto& a, const auto&) {
                                  return std::vector{m.exp(a), a};
                                }))
            .empty());
}

}  // namespace
}  // namespace tenon::test
