// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/schedule/memory_plan.hpp"
#include "core/schedule/uses.hpp"
#include "core/support/error.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

/// Brute force: byte ranges of temporaries that live at one step are apart, but for aliases.
void require_sound(const Schedule& schedule, const MemoryPlan& plan, int64_t alignment) {
  const std::vector<scheduling::Lifetime> lives = scheduling::lifetimes(schedule);
  const size_t count = schedule.buffers.size();
  std::vector<size_t> same(count);
  for (size_t b = 0; b < count; ++b) same[b] = b;
  for (const Step& step : schedule.steps)
    if (const auto* call = std::get_if<KernelCall>(&step.call))
      for (size_t o = 0; o < call->outputs.size(); ++o)
        if (call->alias[o] >= 0) same[call->outputs[o]] = same[call->inputs[call->alias[o]]];
  for (size_t a = 0; a < count; ++a) {
    if (schedule.buffers[a].kind != BufferKind::kTemporary) {
      REQUIRE(plan.offset[a] == -1);
      continue;
    }
    REQUIRE(plan.offset[a] >= 0);
    REQUIRE(plan.offset[a] % alignment == 0);
    REQUIRE(plan.offset[a] + plan.bytes[a] <= plan.arena_bytes[schedule.buffers[a].device]);
    for (size_t b = 0; b < a; ++b) {
      if (schedule.buffers[b].kind != BufferKind::kTemporary ||
          schedule.buffers[a].device != schedule.buffers[b].device)
        continue;
      if (same[a] == same[b]) {
        REQUIRE(plan.offset[a] == plan.offset[b]);
        continue;
      }
      const bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
      const bool overlap = plan.offset[a] < plan.offset[b] + plan.bytes[b] &&
                           plan.offset[b] < plan.offset[a] + plan.bytes[a] && plan.bytes[a] > 0 &&
                           plan.bytes[b] > 0;
      REQUIRE_FALSE((together && overlap));
    }
  }
}

/// Steps that read a few earlier buffers and write one or two new ones, some over an input.
Schedule random_schedule(std::mt19937& random, int steps) {
  Schedule out;
  out.devices = {"cpu:0", "cpu:1"};
  out.buffers.push_back({BufferKind::kInput, DType::kF32, {Dim(16)}, 0, "x"});
  out.inputs = {0};
  for (int s = 0; s < steps; ++s) {
    KernelCall call;
    const int known = static_cast<int>(out.buffers.size());
    for (uint32_t r = 0; r < 1 + random() % 3; ++r)
      call.inputs.push_back(known - 1 - static_cast<int>(random() % std::min(known, 12)));
    const bool two = random() % 4 == 0;
    for (int o = 0; o < (two ? 2 : 1); ++o) {
      const BufferKind kind = random() % 10 ? BufferKind::kTemporary : BufferKind::kOutput;
      const int64_t size = static_cast<int64_t>(random() % 5 ? random() % 5000 : random() % 3);
      call.outputs.push_back(static_cast<int>(out.buffers.size()));
      call.alias.push_back(-1);
      out.buffers.push_back({kind, DType::kF32, {Dim(size)}, static_cast<int>(random() % 2), ""});
    }
    out.steps.push_back({std::move(call), 0});
  }
  const std::vector<scheduling::Lifetime> lives = scheduling::lifetimes(out);
  for (int s = 0; s < steps; ++s) {
    auto& call = std::get<KernelCall>(out.steps[s].call);
    ScheduledBuffer &from = out.buffers[call.inputs[0]], &to = out.buffers[call.outputs[0]];
    if (call.outputs.size() == 1 && from.kind == BufferKind::kTemporary &&
        to.kind == BufferKind::kTemporary && lives[call.inputs[0]].last == s &&
        from.device == to.device && same_shape(from.shape, to.shape))
      call.alias[0] = 0;
  }
  return out;
}

TEST_CASE("temporaries that live together never overlap") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Schedule s = random_schedule(random, 1 + static_cast<int>(random() % 60));
    const int64_t alignment = int64_t{1} << (random() % 9);
    require_sound(s, plan_memory(s, {}, alignment), alignment);
  }
}

TEST_CASE("very long plans are packed by the sweep, as soundly") {
  std::mt19937 random(8);
  const Schedule s = random_schedule(random, 5000);
  const MemoryPlan plan = plan_memory(s, {}, 64);
  require_sound(s, plan, 64);
  REQUIRE(plan.arena_bytes[0] + plan.arena_bytes[1] < plan.sum_bytes / 20);
}

TEST_CASE("a transformer needs at most 35% of the sum of its intermediates") {
  Models m;
  const Graph g = m.transformer(4, 128, 256, 4);
  const Schedule s = schedule(g, on_one_device(), m.builder);
  const MemoryPlan plan = plan_memory(s, {}, 64);
  require_sound(s, plan, 64);
  const double share =
      static_cast<double>(plan.arena_bytes[0]) / static_cast<double>(plan.sum_bytes);
  INFO("arena / sum = " << share);
  REQUIRE(share <= 0.35);
}

TEST_CASE("sizes follow the symbols, and overflow is an error") {
  Models m;
  const Expr n = Expr::symbol("n", 1, int64_t{1} << 40);
  const NodeRef x = m.param("x", {n});
  const NodeRef total = m.builder.expand(m.builder.reduce(Op::ADD, x, {0}), {n});
  const NodeRef scan = m.builder.reduce(Op::ADD, m.exp(m.minus(x, total)), {0});
  const Graph g = m.graph("g", {m.mul(m.builder.expand(scan, {n}), m.exp(m.minus(x, total)))}, {n});
  ScheduleOptions options = on_one_device();
  options.fuse = false;
  const Schedule s = schedule(g, options, m.builder);
  const int64_t small = plan_memory(s, {{"n", 100}}, 64).sum_bytes;
  const int64_t large = plan_memory(s, {{"n", 1000}}, 64).sum_bytes;
  REQUIRE(large > 9 * small);
  REQUIRE_THROWS_AS(plan_memory(s, {{"n", int64_t{1} << 62}}, 64), Error);
  REQUIRE_THROWS_AS(plan_memory(s, {}, 64), Error);
}

TEST_CASE("an elementwise kernel writes over an input that ends there") {
  Models m;
  const NodeRef x = m.param("x", {64, 64}), w = m.param("w", {64, 64});
  const NodeRef a = m.matmul(x, w);
  const NodeRef sums = m.builder.reduce(Op::ADD, a, {0});
  const NodeRef b = m.exp(m.minus(a, m.builder.expand(sums, a->shape)));
  const Graph g = m.graph("g", {m.matmul(b, w), sums});
  const Schedule s = schedule(g, on_one_device(), m.builder);
  int over = 0;
  for (const Step& step : s.steps)
    if (const auto* call = std::get_if<KernelCall>(&step.call)) over += call->alias[0] >= 0;
  INFO(print(s));
  REQUIRE(over == 1);
  require_sound(s, plan_memory(s, {}, 64), 64);
}

}  // namespace
}  // namespace tenon::test
