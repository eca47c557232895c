// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Online softmax: a maximum and the sums that depend on it, in one pass.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "core/ir/substitute.hpp"
#include "core/kernel/templates/templates.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/reference/reference.hpp"
#include "tests/lower/attention.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

Case chain_case(const Attention& a) { return {text(a), {}, {}, a.dtype == "f32" ? 2e-5 : 2e-2}; }

std::string chosen_online_softmax(const Attention& a) {
  Builder builder;
  return print(lower(parse_graph(text(a), builder), cpu_like(), "", true).chosen);
}

const std::vector<std::pair<const char*, Attention>> kChainKinds = {
    {"all", {}},
    {"causal", {.unmasked = kCausal}},
    {"window", {.unmasked = kWindow}},
    {"masked by -inf", {.unmasked = kCausal, .masked_score = "-inf", .masks_weights = false}},
    {"masked by a number alone", {.unmasked = kCausal, .masks_weights = false}},
    {"base 2", {.power = "exp2 %z"}},
    {"a tail of keys", {.keys = 29}},
    {"many", {.heads = 2, .queries = 96, .keys = 80, .size = 8, .values = 40}},
    {"queries that fill no block", {.queries = 75, .keys = 131, .size = 4, .values = 20}},
};

/// Of other shapes, so that lists for those above do not fit.
const std::vector<std::pair<const char*, Attention>> kVariants = {
    {"heads that share keys", {.heads = 6, .each = 3}},
    {"heads that share keys, causal", {.heads = 6, .unmasked = kCausal, .each = 2}},
    {"one query", {.queries = 1, .keys = 300, .size = 32, .values = 32}},
    {"one query, few keys", {.queries = 1, .keys = 2, .size = 3, .values = 2}},
    {"one query, sizes of no power", {.queries = 1, .keys = 131, .size = 80, .values = 20}},
    {"one query of each head of a group",
     {.heads = 8, .queries = 1, .keys = 140, .size = 16, .values = 48, .each = 4}},
    {"three queries", {.queries = 3, .keys = 29}},
    {"three queries and long sums",
     {.heads = 3, .queries = 3, .keys = 256, .size = 128, .values = 128}},
    {"one buffer", {.queries = 24, .keys = 24, .size = 8, .values = 8, .fused = true}},
    {"one buffer, long",
     {.queries = 80, .keys = 80, .size = 16, .values = 16, .unmasked = "", .fused = true}},
    {"bf16", {.size = 8, .values = 16, .dtype = "bf16"}},
    {"f16", {.size = 8, .values = 16, .dtype = "f16"}},
    {"bf16, many",
     {.heads = 2, .queries = 96, .keys = 80, .size = 8, .values = 40, .dtype = "bf16"}},
    {"bf16, odd", {.queries = 75, .keys = 131, .size = 5, .values = 21, .dtype = "bf16"}},
    {"bf16, one query", {.queries = 1, .keys = 200, .size = 32, .values = 32, .dtype = "bf16"}},
};

/// By the reference, and by a transform list on given inputs.
void check_same(const Attention& a, const std::string& list, std::vector<Array> inputs) {
  Builder builder;
  const Graph graph = parse_graph(text(a), builder);
  const LoweredKernel kernel = lower(graph, cpu_like(), list, false);
  const Array expected = evaluate(graph, inputs, {})[0];
  const Array got = run(kernel, graph, {}, inputs, {}, {})[0];
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double x = expected.at(i).as_double(), y = got.at(i).as_double();
    INFO("element " << i << ": expected " << x << ", got " << y);
    CHECK(std::isnan(x) == std::isnan(y));
    if (!std::isnan(x)) CHECK(std::abs(x - y) <= 1e-4 * std::max(1.0, std::abs(x)));
  }
}

std::vector<Array> drawn(const Attention& a, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-2, 2);
  std::vector<Array> out;
  for (const auto& shape :
       {std::vector{a.heads, a.queries, a.size}, std::vector{a.heads, a.keys, a.size},
        std::vector{a.heads, a.keys, a.values}}) {
    out.push_back(Array::zeros(DType::kF32, shape));
    for (int64_t i = 0; i < out.back().count(); ++i)
      out.back().set(i, Scalar::of(DType::kF32, number(random)));
  }
  return out;
}

/// Makes every element of the keys from `first` to `end` of head 0 the value.
void set_keys(const Attention& a, Array& x, int64_t first, int64_t end, double value) {
  const int64_t size = x.count() / (a.heads * a.keys);
  for (int64_t i = first * size; i < end * size; ++i) x.set(i, Scalar::of(DType::kF32, value));
}

}  // namespace

TEST_CASE("attention is one pass by the rules for processors with vectors") {
  for (const auto& [name, a] : kChainKinds) {
    INFO(name);
    CHECK(chosen_online_softmax(a).find("online_softmax ") != std::string::npos);
    CHECK(difference(chain_case(a), cpu_like(), "", true) == "");
  }
}

TEST_CASE("attention of few queries, shared keys, one buffer or narrow floats is one pass") {
  for (const auto& [name, a] : kVariants) {
    INFO(name);
    CHECK(chosen_online_softmax(a).find("online_softmax ") != std::string::npos);
    for (const Capabilities& capabilities : {cpu_like(), dots_like()})
      CHECK(difference(chain_case(a), capabilities, "", true) == "");
  }
}

TEST_CASE("a cache of keys of which the data says how many count, its size a symbol, is one pass") {
  const std::string graph = R"(graph g(%q: f32[2, 1, 16], %k: f32[2, s, 16], %v: f32[2, s, 24],
      %n: i64[1, 1, 1]) where 1 <= s <= 600 {
    %q4 = reshape %q : [2, 1, 1, 16]
    %qe = expand %q4 : f32[2, 1, s, 16]
    %k4 = reshape %k : [2, 1, s, 16]
    %qk = mul %qe, %k4
    %dot = reduce.add %qk, axes=[3]
    %x0 = reshape %dot : [2, 1, s]
    %key = index axis=2 : i64[2, 1, s]
    %ne = expand %n : i64[2, 1, s]
    %unmasked = cmplt %key, %ne
    %masked_score = const -1e30 : f32[2, 1, s]
    %x = where %unmasked, %x0, %masked_score
    %m = reduce.max %x, axes=[2]
    %me = expand %m : f32[2, 1, s]
    %z = sub %x, %me
    %p = exp %z
    %l = reduce.add %p, axes=[2]
    %le = expand %l : f32[2, 1, s]
    %w0 = fdiv %p, %le
    %none = const 0.0 : f32[2, 1, s]
    %w = where %unmasked, %w0, %none
    %w4 = reshape %w : [2, 1, s, 1]
    %we = expand %w4 : f32[2, 1, s, 24]
    %v4 = reshape %v : [2, 1, s, 24]
    %wv = mul %we, %v4
    %o = reduce.add %wv, axes=[2]
    %y = reshape %o : [2, 1, 24]
    return %y })";
  Builder builder;
  ScheduleOptions options;
  options.devices.push_back({"device:0", cpu_like()});
  const Schedule schedule = Compiler(builder).schedule(parse_graph(graph, builder), options);
  CHECK(schedule.steps.size() == 1);
  for (const int64_t size : {1, 2, 37, 600}) {
    INFO(size << " keys");
    CHECK(difference({graph, {{"s", size}}, {}, 2e-5}, cpu_like(), "", true) == "");
  }
}

TEST_CASE("attention is one pass where threads have a few queries each") {
  for (const auto& [name, a] : kChainKinds) {
    INFO(name);
    for (const Capabilities& device : {software_like(), gpu_like()}) {
      Builder builder;
      const LoweredKernel kernel = lower(parse_graph(text(a), builder), device, "", true);
      CHECK(list_text(kernel.chosen).find("online_softmax ") != std::string::npos);
      CHECK(list_text(kernel.chosen).find("block.x") != std::string::npos);
      CHECK(difference(chain_case(a), device, "", true) == "");
    }
  }
}

TEST_CASE("keys that are too many for the loops of a thread are no online softmax") {
  Attention many;
  many.keys = 4000;
  Builder builder;
  const Graph graph = parse_graph(text(many), builder);
  const auto fused = [&](uint32_t trips) {
    Capabilities device = software_like();
    device.max_loop_trips = trips;
    return choose_fused(build_kernel(graph), device).has_value();
  };
  CHECK(fused(0));
  CHECK(fused(20000));
  CHECK(!fused(2000));
}

TEST_CASE("no buffer between is as large as the scores") {
  const auto cut = [](const std::string& graph, const Capabilities& capabilities) {
    Builder builder;
    ScheduleOptions options;
    options.devices.push_back({"device:0", capabilities});
    return Compiler(builder).schedule(parse_graph(graph, builder), options);
  };
  Capabilities shaders = software_like();
  shaders.software = false;
  for (const auto& [name, a] : kChainKinds) {
    INFO(name);
    for (const Capabilities& device : {cpu_like(), software_like(), shaders}) {
      const Schedule schedule = cut(text(a), device);
      CHECK(schedule.steps.size() == 1);
      for (const ScheduledBuffer& buffer : schedule.buffers)
        CHECK(buffer.kind != BufferKind::kTemporary);
    }
    CHECK(cut(text(a), warps_like()).steps.size() > 1);  // whose matrix units do the products
    CHECK(cut(text(a), scalar_like()).steps.size() > 1);
  }
  for (const auto& [name, a] : kVariants) {
    INFO(name);
    const Schedule schedule = cut(text(a), cpu_like());
    CHECK(schedule.steps.size() == 1);
    for (const ScheduledBuffer& buffer : schedule.buffers)
      CHECK(buffer.kind != BufferKind::kTemporary);
  }
  // Weights that others read.
  std::string with_weights = text({});
  with_weights.replace(with_weights.find("return %y"), 9, "return %y, %w0");
  CHECK(cut(with_weights, cpu_like()).steps.size() > 1);
}

TEST_CASE("layers that share a mask are one pass each, however many they are") {
  constexpr int kLayers = 40;
  const Attention a{.queries = 24, .size = 6, .values = 6, .unmasked = kCausal};
  Builder builder;
  Graph graph = parse_graph(text(a), builder);
  const NodeRef layer = graph.outputs[0];
  for (int i = 1; i < kLayers; ++i) {
    FlatMap<const Node*, NodeRef> of_layer;
    of_layer.try_emplace(graph.params[0].get(), graph.outputs[0]);
    for (size_t p : {1, 2}) {
      const Node& first = *graph.params[p];
      graph.params.push_back(builder.param(fmt::format("x{}_{}", i, p), first.dtype, first.shape));
      of_layer.try_emplace(&first, graph.params.back());
    }
    graph.outputs = substitute({layer}, of_layer, builder);
  }
  ScheduleOptions options;
  options.devices.push_back({"device:0", cpu_like()});
  const Schedule schedule = Compiler(builder).schedule(graph, options);
  CHECK(schedule.steps.size() == kLayers);
  each_kernel(schedule, [](const KernelCall& call, int) { CHECK(call.inputs.size() == 3); });
}

TEST_CASE("online softmax agrees with the reference in blocks of any length") {
  for (const auto& [name, a] : kChainKinds) {
    for (const char* list :
         {"online_softmax r2 1 at a0", "online_softmax r2 7 at a0", "online_softmax r2 8 at a1",
          "online_softmax r2 1000 at a1", "split a1 6; online_softmax r2 4 at a1.o",
          "split a1 8; online_softmax r2 5 at a1.o; split r2.i 3; "
          "unroll r2.i.i; bind a1.o grid.x",
          "online_softmax r2 7 at a1 pad 3 sums", "online_softmax r2 8 at a0 pad 1 inner r2 sums",
          "reorder a1 a0; online_softmax r2 9 at a1"}) {
      INFO(name << ": " << list);
      CHECK(difference(chain_case(a), cpu_like(), list, false) == "");
    }
  }
}

TEST_CASE("online softmax of the variants agrees in blocks of any length, either way round") {
  for (const auto& [name, a] : kVariants) {
    if (a.keys > 30) continue;
    for (const char* list :
         {"online_softmax r2 1 at a0", "online_softmax r2 7 at a0 inner r2",
          "online_softmax r2 8 at a0",
          "online_softmax r2 6 at a0 inner r2; split r2.i.p 2; unroll r2.i.p.i; bind a0 grid.x",
          "online_softmax r2 1000 at a0 inner r2"}) {
      INFO(name << ": " << list);
      CHECK(difference(chain_case(a), cpu_like(), list, false) == "");
    }
  }
}

TEST_CASE("any list after online_softmax gives the same result") {
  const WrittenTransforms starts[] = {parse_transforms("split a1 6; online_softmax r2 4 at a1.o"),
                                      parse_transforms("online_softmax r2 5 at a0"),
                                      parse_transforms("online_softmax r2 6 at a0 inner r2")};
  int fused = 0;
  std::vector<std::pair<const char*, Attention>> kinds = kChainKinds;
  kinds.insert(kinds.end(), kVariants.begin(), kVariants.end());
  for (const auto& [name, a] : kinds) {
    if (a.queries > 24 || a.keys > 60) continue;
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(text(a), builder));
    for (uint32_t seed = 1; seed <= 12; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      const auto drawn = random_transforms(
          kernel, below,
          {.vectors = seed % 2 != 0, .threads = seed % 4 < 2, .first = starts[seed % 3]});
      const std::string list = list_text(drawn);
      INFO(name << " seed " << seed << ": " << list);
      fused += list.find("online_softmax") != std::string::npos;
      CHECK(difference_of_drawn(chain_case(a), everything(), list, seed) == "");
    }
  }
  CHECK(fused >= 60);
}

TEST_CASE("random lists apply online_softmax where it is legal") {
  int lists = 0, fused = 0;
  for (const auto& [name, a] : kChainKinds) {
    for (const std::string& list : random_lists(text(a), 10)) {
      ++lists;
      fused += list.find("online_softmax") != std::string::npos;
    }
  }
  INFO(fused << " of " << lists);
  CHECK(fused * 4 > lists);
}

TEST_CASE("blocks that are masked for all of a tile are skipped") {
  const std::string causal = chosen_online_softmax(
      {.queries = 128, .keys = 128, .size = 4, .values = 16, .unmasked = kCausal});
  CHECK(causal.find("for ordered r2.o in 2 from 0 to a1.o + 1") != std::string::npos);
  const std::string all =
      chosen_online_softmax({.queries = 128, .keys = 128, .size = 4, .values = 16});
  CHECK(all.find("for ordered r2.o in 2\n") != std::string::npos);
}

TEST_CASE("skipped blocks count as the mask says") {
  // Scores below the masked score: the masked keys then have the weight.
  for (const char* list :
       {"split a1 4; online_softmax r2 4 at a1.o", "online_softmax r2 24 at a0"}) {
    for (const double score : {-1e32, -std::numeric_limits<double>::infinity()})
      for (const bool masks_weights : {true, false}) {
        const Attention a{.unmasked = kCausal, .masks_weights = masks_weights};
        std::vector<Array> inputs = drawn(a, 1);
        for (int64_t i = 0; i < inputs[0].count(); ++i)
          inputs[0].set(i, Scalar::of(DType::kF32, 1));
        set_keys(a, inputs[1], 0, a.keys, score);
        check_same(a, list, inputs);
      }
  }
}

TEST_CASE("infinities and NaN come out as the reference has them") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [name, a] : kChainKinds) {
    if (a.queries > 20 || a.keys != 24) continue;
    for (const char* list :
         {"split a1 4; online_softmax r2 4 at a1.o", "online_softmax r2 7 at a0"}) {
      for (const double value : {-infinity, infinity, std::nan("")}) {
        for (const auto& [first, end] : {std::pair{0, 9}, {0, 24}, {3, 4}, {20, 24}}) {
          INFO(name << ": " << list << ", " << value << " in keys " << first << " to " << end);
          std::vector<Array> inputs = drawn(a, 3);
          for (int64_t i = 0; i < inputs[0].count(); ++i)
            inputs[0].set(i, Scalar::of(DType::kF32, 1));
          set_keys(a, inputs[1], first, end, value);
          check_same(a, list, inputs);
        }
      }
    }
  }
}

TEST_CASE("online_softmax is refused where a sum cannot be rescaled") {
  const auto refused = [](const std::string& graph, const char* list) {
    Builder builder;
    Kernel kernel = build_kernel(parse_graph(graph, builder));
    const std::string before = print(kernel);
    const std::optional<Refusal> no = try_apply(kernel, parse_transforms(list)[0]);
    CHECK((print(kernel) == before) == no.has_value());
    return no ? no->message : "";
  };
  const auto graph = [](const char* term) {
    return std::string(
               "graph g(%x: f32[4, 9], %y: f32[4, 9]) {\n %m = reduce.max %x, axes=[1]\n"
               " %me = expand %m : f32[4, 9]\n %z = sub %x, %me\n") +
           term + "\n %s = reduce.add %t, axes=[1]\n return %s\n}";
  };
  CHECK(refused(graph("%t = exp %z"), "online_softmax r1 4 at a0") == "");
  CHECK(refused(graph("%p = exp %z\n %t = mul %p, %y"), "online_softmax r1 4 at a0") == "");
  CHECK(refused(graph("%p = exp %z\n %t = mul %p, %x"), "online_softmax r1 4 at a0") == "");
  for (const char* term :
       {"%t = add %z, %y", "%p = exp %z\n %t = add %p, %y", "%p = exp %z\n %t = mul %p, %p",
        "%p = exp %z\n %t = mul %p, %me", "%p = sin %z\n %t = mul %p, %y",
        "%n = neg %z\n %t = exp %n", "%n = const -2.0 : f32[4, 9]\n %u = mul %z, %n\n %t = exp %u",
        "%w = sub %y, %me\n %t = exp %w"}) {
    INFO(term);
    const bool hoists = std::string(term).find("%p, %me") != std::string::npos;
    CHECK(refused(graph(term), "online_softmax r1 4 at a0").empty() == hoists);
  }
  CHECK(refused(graph("%t = exp %z"), "online_softmax r1 4 at a0 inner r1") == "");
  CHECK(refused(graph("%t = exp %z"), "online_softmax r1 4 at a0 inner a0").find("inner r1") !=
        std::string::npos);
  const std::string row = graph("%t = exp %z");
  CHECK(refused(row, "online_softmax r0 4 at a0").find("maximum") != std::string::npos);
}
