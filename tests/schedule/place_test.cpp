// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, copies between them, and limits.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>

#include "core/support/error.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string refusal(const Graph& g, const ScheduleOptions& options, Builder& builder,
                    ErrorKind kind) {
  try {
    schedule(g, options, builder);
  } catch (const Error& error) {
    REQUIRE(error.kind() == kind);
    return error.what();
  }
  FAIL("expected a refusal");
  return {};
}

ScheduleOptions two_devices() {
  ScheduleOptions out = on_one_device();
  out.devices.push_back({"null:0", generic_capabilities()});
  return out;
}

TEST_CASE("COPY runs the rest on the named device") {
  Models m;
  const NodeRef x = m.param("x", {8});
  const Graph g = m.graph("g", {m.exp(m.builder.copy(m.exp(x), "null"))});
  const Schedule s = schedule(g, two_devices(), m.builder);
  REQUIRE(kernel_count(s) == 2);
  REQUIRE(copy_count(s) == 1);
  REQUIRE(s.steps[0].device == 0);
  REQUIRE(s.steps[2].device == 1);
  REQUIRE(s.buffers[s.outputs[0]].device == 1);
  require_same(g, s, 1);
}

TEST_CASE("a copy to where it is already is none") {
  Models m;
  const NodeRef x = m.param("x", {8});
  const Graph g = m.graph("g", {m.exp(m.builder.copy(m.exp(x), "cpu:0"))});
  REQUIRE(copy_count(schedule(g, two_devices(), m.builder)) == 0);
}

TEST_CASE("an op runs where its first operand lives; the others are copied, once") {
  Models m;
  const NodeRef a = m.param("a", {8}), b = m.param("b", {8});
  const Graph g = m.graph("g", {m.add(a, b), m.mul(a, m.exp(b))});
  ScheduleOptions options = two_devices();
  options.input_places = {1, 0};
  const Schedule s = schedule(g, options, m.builder);
  require_same(g, s, 1);
  REQUIRE(s.buffers[s.outputs[0]].device == 1);
  for (const Step& step : s.steps)
    if (const auto* call = std::get_if<KernelCall>(&step.call))
      for (int buffer : call->inputs) REQUIRE(s.buffers[buffer].device == step.device);
  REQUIRE(copy_count(s) == 2);  // b, and exp(b)
}

/// Kernels touch buffers of their device, and loops carry such.
void require_at_home(const Schedule& s) {
  const auto at = [&](const std::vector<int>& buffers, int device) {
    for (const int b : buffers) REQUIRE(s.buffers[b].device == device);
  };
  for (const Step& step : s.steps) {
    if (const auto* kernel = std::get_if<KernelCall>(&step.call)) {
      at(kernel->inputs, step.device);
      at(kernel->outputs, step.device);
    } else if (const auto* loop = std::get_if<LoopCall>(&step.call)) {
      at(loop->initial, step.device);
      at(loop->outputs, step.device);
      require_at_home(*loop->body);
    }
  }
}

TEST_CASE("a constant that is stored into, or that a loop begins with, lies where that runs") {
  Models m;
  const NodeRef x = m.param("x", {8}), y = m.param("y", {8});
  const NodeRef none = m.builder.constant(zero(x->dtype), x->shape);
  const NodeRef reversed = m.builder.binary(
      Op::SUB, m.builder.constant(Scalar::of_int(DType::kI64, 7), {8}), m.builder.index(0, {8}));
  const auto stored = [&](const NodeRef& values) {
    return m.builder.store(none, reversed, values, 0, StoreMode::kAdd);
  };
  const NodeRef trip = m.builder.param("i", DType::kI64, {}), sum = m.param("sum", {8}),
                part = m.param("part", {8});
  Graph body = m.graph("body", {m.add(sum, stored(part))});
  body.params = {trip, sum, part};
  const auto summed = [&](const NodeRef& values) {
    return m.builder.loop(m.builder.constant(Scalar::of_int(DType::kI64, 3)), {none}, {values},
                          std::make_shared<const Graph>(body), /*is_while=*/false, 0);
  };
  for (const auto& of : std::vector<std::function<NodeRef(const NodeRef&)>>{stored, summed}) {
    for (const bool both : {false, true}) {
      std::vector<NodeRef> outputs{m.exp(of(m.exp(x)))};
      if (both) outputs.push_back(of(m.exp(y)));
      const Graph g = m.graph("g", outputs);
      ScheduleOptions options = two_devices();
      options.input_places = {1};
      if (both) options.input_places.push_back(0);
      const Schedule s = schedule(g, options, m.builder);
      require_at_home(s);
      for (size_t i = 0; i < outputs.size(); ++i)
        REQUIRE(s.buffers[s.outputs[i]].device == options.input_places[i].device);
      require_same(g, s, 3);
    }
  }
}

TEST_CASE("a storage device gives its data, and computes nothing") {
  Models m;
  const Graph g = m.graph("g", {m.exp(m.param("x", {8}))});
  ScheduleOptions options = two_devices();
  options.devices[1] = {"disk:0", Capabilities{}};
  Capabilities changed = options.devices[1].capabilities;
  changed.compute = false;
  options.devices[1].capabilities = changed;
  options.input_places = {1};
  const Schedule s = schedule(g, options, m.builder);
  REQUIRE(copy_count(s) == 1);
  REQUIRE(s.buffers[s.outputs[0]].device == 0);
  require_same(g, s, 1);
}

ScheduleOptions with_storage() {
  ScheduleOptions options = two_devices();
  options.devices[1] = {"disk:/a/b.bin", Capabilities{}};
  Capabilities changed = options.devices[1].capabilities;
  changed.compute = false;
  options.devices[1].capabilities = changed;
  options.input_places = {1};
  return options;
}

/// Elements of all copies, and the schedule runs right.
int64_t copied(const Graph& g, Models& m) {
  const Schedule s = schedule(g, with_storage(), m.builder);
  require_same(g, s, 1);
  int64_t count = 0;
  for (const Step& step : s.steps) {
    REQUIRE(step.device == 0);
    if (const auto* copy = std::get_if<CopyCall>(&step.call))
      count += product(s.buffers[copy->destination].shape).value();
  }
  return count;
}

TEST_CASE("of what a storage device holds only the rows that are used are copied") {
  Models m;
  Builder& b = m.builder;
  const NodeRef x = m.param("x", {10, 4, 6});
  const auto rows = [&](NodeRef of, int64_t begin, int64_t end) {
    std::vector<std::pair<Dim, Dim>> pairs{{begin, end}};
    for (size_t axis = 1; axis < of->shape.size(); ++axis) pairs.push_back({0, of->shape[axis]});
    return b.shrink(of, pairs);
  };
  CHECK(copied(m.graph("g", {m.exp(rows(x, 3, 5))}), m) == 2 * 24);
  CHECK(copied(m.graph("g", {rows(x, 3, 5)}), m) == 2 * 24);
  CHECK(copied(m.graph("g", {m.exp(rows(b.reshape(rows(x, 2, 6), {16, 6}), 5, 7))}), m) == 12);
  CHECK(copied(m.graph("g", {b.shrink(x, {{3, 4}, {1, 3}, {0, 6}})}), m) == 12);
  CHECK(copied(m.graph("g", {m.add(rows(x, 0, 1), rows(x, 9, 10))}), m) == 48);
  CHECK(copied(m.graph("g", {rows(x, 4, 4)}), m) == 0);
  // Not consecutive: copied whole, and cut where the computing is.
  CHECK(copied(m.graph("g", {m.exp(b.shrink(x, {{0, 10}, {1, 3}, {0, 6}}))}), m) == 240);
  CHECK(copied(m.graph("g", {b.permute(rows(x, 1, 3), {2, 1, 0})}), m) == 48);
  const Schedule s = schedule(m.graph("g", {m.exp(rows(x, 3, 5))}), with_storage(), b);
  REQUIRE_THAT(print(s), ContainsSubstring("copy b0[72..] -> b1 from disk:/a/b.bin"));
}

TEST_CASE("an unknown device is an error that lists those there are") {
  Models m;
  const Graph g = m.graph("g", {m.builder.copy(m.param("x", {8}), "cuda:0")});
  const std::string message = refusal(g, two_devices(), m.builder, ErrorKind::kInvalid);
  REQUIRE_THAT(message, ContainsSubstring("cpu:0, null:0") && ContainsSubstring("cuda:0"));
}

TEST_CASE("kernels are split where bindings run out") {
  Models m;
  NodeRef sum = m.param("p0", {8});
  for (int i = 1; i < 20; ++i) sum = m.add(sum, m.param(fmt::format("p{}", i), {8}));
  const Graph g = m.graph("g", {sum});
  for (uint32_t limit : {3u, 4u, 7u}) {
    Capabilities caps = generic_capabilities();
    caps.max_bindings = limit;
    const Schedule s = schedule(g, on_one_device(caps), m.builder);
    for (const Step& step : s.steps) {
      const auto& call = std::get<KernelCall>(step.call);
      REQUIRE(call.inputs.size() + call.outputs.size() <= limit);
    }
    require_same(g, s, 1);
  }
}

TEST_CASE("limits that no cut meets are refused by name") {
  Models m;
  Capabilities caps = generic_capabilities();
  caps.max_bindings = 2;
  const NodeRef x = m.param("x", {8}), y = m.param("y", {8});
  const Graph add = m.graph("g", {m.add(x, y)});
  REQUIRE_THAT(refusal(add, on_one_device(caps), m.builder, ErrorKind::kUnsupported),
               ContainsSubstring("[add]") && ContainsSubstring("2 buffers"));
  caps = generic_capabilities();
  caps.max_buffer_bytes = 1024;
  const Graph big = m.graph("g", {m.exp(m.param("big", {1000}))});
  REQUIRE_THAT(refusal(big, on_one_device(caps), m.builder, ErrorKind::kUnsupported),
               ContainsSubstring("1024 bytes") && ContainsSubstring("big"));
  caps = generic_capabilities();
  caps.dtypes[static_cast<size_t>(DType::kF64)].storage = false;
  const Graph wide = m.graph("g", {m.exp(m.param("wide", {4}, DType::kF64))});
  REQUIRE_THAT(refusal(wide, on_one_device(caps), m.builder, ErrorKind::kUnsupported),
               ContainsSubstring("f64") && ContainsSubstring("wide"));
}

}  // namespace
}  // namespace tenon::test
