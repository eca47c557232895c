// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precompute: reductions in the terms of a reduction, block by block, as in attention's gradients.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "tests/lower/cutting.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

struct Gradients {
  int64_t heads = 2, queries = 20, keys = 24, size = 5, values = 7;
  std::string unmasked = {};    ///< statements that define %unmasked from %query and %key
  std::string outputs = "%dq";  ///< of %o, %dq, %dk, %dv, %delta, %top, %w0
  bool own_rows = false;        ///< the largest score and the sum of powers are no inputs
};

constexpr const char* kCausalKeys =
    "%lt = cmplt %key, %query\n %eq = cmpeq %key, %query\n %unmasked = or %lt, %eq\n";
constexpr const char* kWindowOfKeys =
    "%five = const 5 : i64$S\n %far = sub %query, %five\n %near = cmplt %far, %key\n"
    "%gt = cmplt %query, %key\n %t = const true : bool$S\n %le = xor %gt, %t\n"
    "%unmasked = and %near, %le\n";

/// By the largest score, the sum of the powers and the sum of weight and gradient of each query.
std::string precompute_text(const Gradients& a) {
  const Names names = {
      {"$Rows", a.own_rows ? "" : "%m: f32$R, %l: f32$R, "},
      {"$Maximum", a.own_rows ? "%m = reduce.max %x, axes=[2]\n    " : ""},
      {"$Sum", a.own_rows ? "%l = reduce.add %p, axes=[2]\n    " : ""},
      {"$Much", a.own_rows ? "%l" : "%much"},
      {"$S", fmt::format("[{}, {}, {}]", a.heads, a.queries, a.keys)},
      {"$R", fmt::format("[{}, {}, 1]", a.heads, a.queries)},
      {"$P", fmt::format("[{}, {}, {}, {}]", a.heads, a.queries, a.keys, a.size)},
      {"$O", fmt::format("[{}, {}, {}, {}]", a.heads, a.queries, a.keys, a.values)},
      {"$H", std::to_string(a.heads)},
      {"$Q", std::to_string(a.queries)},
      {"$K", std::to_string(a.keys)},
      {"$D", std::to_string(a.size)},
      {"$E", std::to_string(a.values)}};
  std::string out = R"(graph g(%q: f32[$H, $Q, $D], %k: f32[$H, $K, $D], %v: f32[$H, $K, $E],
      %g: f32[$H, $Q, $E], $Rows%d: f32$R) {
    %q4 = reshape %q : [$H, $Q, 1, $D]
    %qe = expand %q4 : f32$P
    %k4 = reshape %k : [$H, 1, $K, $D]
    %ke = expand %k4 : f32$P
    %qk = mul %qe, %ke
    %dot = reduce.add %qk, axes=[3]
    %x = reshape %dot : $S
    $Maximum%me = expand %m : f32$S
    %z = sub %x, %me
    %scale = const 0.01 : f32$S
    %zs = mul %z, %scale
    %p = exp %zs
    $Sum%eight = const 8.0 : f32$R
    %much = add %l, %eight
    %le_ = expand $Much : f32$S
    %w0 = fdiv %p, %le_
    %g4 = reshape %g : [$H, $Q, 1, $E]
    %ge = expand %g4 : f32$O
    %v4 = reshape %v : [$H, 1, $K, $E]
    %ve = expand %v4 : f32$O
    %gv = mul %ge, %ve
    %dots = reduce.add %gv, axes=[3]
    %dw = reshape %dots : $S
)";
  std::string w = "%w0";
  if (!a.unmasked.empty()) {
    out += "%query = index axis=1 : i64$S\n %key = index axis=2 : i64$S\n" + a.unmasked;
    out += "%none = const 0.0 : f32$S\n %w1 = where %unmasked, %w0, %none\n";
    w = "%w1";
  }
  out += "%de = expand %d : f32$S\n %above = sub %dw, %de\n %ds = mul " + w + R"(, %above
    %ds4 = reshape %ds : [$H, $Q, $K, 1]
    %dse = expand %ds4 : f32$P
    %dqt = mul %dse, %ke
    %dq = reduce.add %dqt, axes=[2]
    %dkt = mul %dse, %qe
    %dk = reduce.add %dkt, axes=[1]
    %w4 = reshape )" +
         w + R"( : [$H, $Q, $K, 1]
    %we = expand %w4 : f32$O
    %dvt = mul %we, %ge
    %dv = reduce.add %dvt, axes=[1]
    %ot = mul %we, %ve
    %o = reduce.add %ot, axes=[2]
    %wd = mul )" +
         w + R"(, %dw
    %delta = reduce.add %wd, axes=[2]
    %top = reduce.max %wd, axes=[2]
    return )" +
         a.outputs + " }";
  return filled(std::move(out), names);
}

Case precompute_case(const Gradients& a) { return {precompute_text(a), {}, {}, 2e-5}; }

std::string chosen_precompute(const Gradients& a) {
  Builder builder;
  return print(lower(parse_graph(precompute_text(a), builder), cpu_like(), "", true).chosen);
}

const std::vector<std::pair<const char*, Gradients>> kPrecomputeKinds = {
    {"of queries", {}},
    {"of keys", {.outputs = "%dk"}},
    {"of values", {.outputs = "%dv"}},
    {"of rows", {.outputs = "%delta"}},
    {"largest of rows", {.outputs = "%top"}},
    {"of queries, causal", {.unmasked = kCausalKeys}},
    {"of keys, causal", {.unmasked = kCausalKeys, .outputs = "%dk"}},
    {"of values, window", {.values = 5, .unmasked = kWindowOfKeys, .outputs = "%dv"}},
    {"of rows, window", {.unmasked = kWindowOfKeys, .outputs = "%delta"}},
    {"a tail", {.queries = 75, .keys = 131, .size = 4, .values = 20}},
    {"a tail of queries",
     {.queries = 75, .keys = 131, .size = 20, .unmasked = kCausalKeys, .outputs = "%dk"}},
    {"of keys and values", {.values = 5, .outputs = "%dk, %dv"}},
    {"of keys and values, causal",
     {.queries = 75,
      .keys = 131,
      .size = 16,
      .values = 16,
      .unmasked = kCausalKeys,
      .outputs = "%dk, %dv"}},
    {"one head, one value", {.heads = 1, .queries = 17, .keys = 33, .size = 3, .values = 1}},
};

}  // namespace

TEST_CASE("gradients of attention compute their scores by blocks") {
  for (const auto& [name, a] : kPrecomputeKinds) {
    INFO(name);
    INFO(chosen_precompute(a));
    CHECK(chosen_precompute(a).find("precompute ") != std::string::npos);
    CHECK(difference(precompute_case(a), cpu_like(), "", true) == "");
  }
}

TEST_CASE("precomputed terms agree with the reference in blocks of any length") {
  for (const auto& [name, a] : kPrecomputeKinds) {
    if (a.queries > 20) continue;
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(precompute_text(a), builder));
    int applied = 0;
    for (const KernelAxis& r : kernel.axes)
      for (const char* rest : {" 1 at a0", " 7 at a0", " 8 at a1", " 1000 at a1"}) {
        const std::string list = "precompute " + r.name + rest;
        Kernel copy = kernel;
        if (try_apply(copy, parse_transforms(list)[0])) continue;
        ++applied;
        INFO(name << ": " << list);
        CHECK(difference(precompute_case(a), cpu_like(), list, false) == "");
      }
    INFO(name);
    CHECK(applied >= (a.heads == 1 ? 0 : 2));
  }
}

TEST_CASE("blocks that are left out stay inside the axis where a tile is not real") {
  for (const auto& [name, a] : kPrecomputeKinds) {
    if (std::string_view(name) != "of rows, window") continue;
    CHECK(difference(precompute_case(a), everything(),
                     "split a1 6; precompute r0 4 at a1.o; split a1.o 3; bind a1.o.i grid.x",
                     false) == "");
    CHECK(difference(precompute_case(a), everything(),
                     "split a1 6; precompute r0 4 at a1.o; pad a1.o 8", false) == "");
  }
}

TEST_CASE("any list after precompute gives the same result") {
  int done = 0;
  for (const auto& [name, a] : kPrecomputeKinds) {
    if (a.queries > 20) continue;
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(precompute_text(a), builder));
    for (uint32_t seed = 1; seed <= 24; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      WrittenTransforms first;
      const KernelAxis& r = kernel.axes[seed % kernel.axes.size()];
      first = parse_transforms("split a1 6; precompute " + r.name +
                               (seed % 2 != 0 ? " 4 at a1.o" : " 5 at a0"));
      const auto drawn = random_transforms(
          kernel, below, {.vectors = seed % 2 != 0, .threads = seed % 4 < 2, .first = first});
      const std::string list = list_text(drawn);
      INFO(name << " seed " << seed << ": " << list);
      done += list.find("precompute") != std::string::npos;
      CHECK(difference_of_drawn(precompute_case(a), everything(), list, seed) == "");
    }
  }
  CHECK(done >= 20);
}

TEST_CASE("random lists precompute what can be precomputed") {
  int lists = 0, precomputed = 0;
  for (const auto& [name, a] : kPrecomputeKinds) {
    for (const std::string& list : random_lists(precompute_text(a), 10)) {
      ++lists;
      precomputed += list.find("precompute") != std::string::npos;
    }
  }
  INFO(precomputed << " of " << lists);
  CHECK(precomputed * 4 > lists);
}

TEST_CASE("blocks whose terms a mask makes zero are left out") {
  const Gradients large{
      .queries = 128, .keys = 192, .size = 16, .values = 16, .unmasked = kCausalKeys};
  const auto range_of = [&](const char* outputs, const char* unmasked) {
    Gradients a = large;
    a.outputs = outputs;
    a.unmasked = unmasked;
    const std::string tree = chosen_precompute(a);
    INFO(tree);
    const size_t at = tree.find("for ordered");
    REQUIRE(at != std::string::npos);
    return tree.substr(at, tree.find('\n', at) - at);
  };
  CHECK(range_of("%dq", kCausalKeys).find("from 0 to ") != std::string::npos);
  CHECK(range_of("%dk", kCausalKeys).find("from ") != std::string::npos);
  CHECK(range_of("%dv", kWindowOfKeys).find("from ") != std::string::npos);
  CHECK(range_of("%dq", "").find("from") == std::string::npos);
  CHECK(range_of("%top", kCausalKeys).find("from") == std::string::npos);  // zero is not the least
}

TEST_CASE("what gradients compute again is in no buffer") {
  const auto largest = [](const Gradients& a, Capabilities capabilities) {
    capabilities.l3_bytes = 2 << 20;
    Builder builder;
    ScheduleOptions options;
    options.devices.push_back({"device:0", capabilities});
    const Schedule schedule =
        Compiler(builder).schedule(parse_graph(precompute_text(a), builder), options);
    int64_t most = 0;
    for (const ScheduledBuffer& buffer : schedule.buffers)
      if (buffer.kind == BufferKind::kTemporary) most = std::max(most, product(buffer.shape).max());
    return most;
  };
  Gradients a{.heads = 8, .queries = 256, .keys = 512, .size = 16, .values = 24};
  a.outputs = "%dq, %dk, %dv, %delta";
  const int64_t rows = a.heads * a.queries, scores = rows * a.keys;
  for (const bool own_rows : {false, true})
    for (const char* unmasked : {"", kCausalKeys, kWindowOfKeys}) {
      INFO(unmasked << own_rows);
      a.own_rows = own_rows;
      a.unmasked = unmasked;
      CHECK(largest(a, cpu_like()) <= rows);
      CHECK(largest(a, scalar_like()) >= scores);
      CHECK(largest(a, gpu_like()) >= scores);
    }
  // Where someone else wants the weights, what fits a cache, and sums of many terms.
  Gradients other = a;
  other.outputs += ", %w0";
  CHECK(largest(other, cpu_like()) >= scores);
  other = a;
  other.queries = 16;
  CHECK(largest(other, cpu_like()) >= other.heads * other.queries * other.keys);
  other = a;
  other.keys = 2048;
  other.size = 200;
  CHECK(largest(other, cpu_like()) >= rows * other.keys);
}

TEST_CASE(
    "the result gives its rows to the gradients, and those of keys and values are one kernel") {
  Capabilities device = cpu_like();
  device.l3_bytes = 1 << 10;
  Gradients a{.heads = 2, .queries = 48, .keys = 40, .size = 5, .values = 5};
  a.outputs = "%o, %dq, %dk, %dv";
  a.own_rows = true;
  for (const char* unmasked : {"", kCausalKeys, kWindowOfKeys}) {
    INFO(unmasked);
    a.unmasked = unmasked;
    Cutting cut(precompute_text(a), device);
    INFO(print(cut.schedule));
    // A mask that the maximum does not have is no online softmax: two more kernels are for rows.
    const bool is_online_softmax = a.unmasked.empty();
    std::vector<size_t> outputs;
    for (size_t s = 0; s < cut.schedule.steps.size(); ++s)
      outputs.push_back(cut.call(s).outputs.size());
    CHECK(outputs ==
          (is_online_softmax ? std::vector<size_t>{3, 1, 2} : std::vector<size_t>{1, 1, 2, 2}));
    CHECK(cut.largest() == a.heads * a.queries);
    check_same(cut, drawn(cut.graph, 2), 1e-4);
  }
  // Gradients of other shapes are kernels of their own.
  a.values = 7;
  a.unmasked = "";
  Cutting apart(precompute_text(a), device);
  CHECK(apart.schedule.steps.size() == 4);
  CHECK(apart.largest() == a.heads * a.queries);
  check_same(apart, drawn(apart.graph, 2), 1e-4);
}

TEST_CASE("precompute is refused where terms take nothing that can be computed ahead") {
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
               "graph g(%x: f32[4, 6, 9], %y: f32[1, 6, 5]) {\n %r = reduce.add %x, axes=[2]\n"
               " %e = expand %r : f32[4, 6, 5]\n %ye = expand %y : f32[4, 6, 5]\n") +
           term + "\n %s = reduce.add %t, axes=[1]\n return %s\n}";
  };
  CHECK(refused(graph("%t = mul %e, %ye"), "precompute r0 4 at a0") == "");
  CHECK(refused(graph("%u = exp %e\n %t = mul %u, %ye"), "precompute r0 4 at a0") == "");
  CHECK(refused(graph("%t = add %e, %ye"), "precompute r0 4 at a0") != "");
  CHECK(refused(graph("%u = mul %e, %ye\n %t = mul %u, %e"), "precompute r0 4 at a0") != "");
  CHECK(refused(graph("%t = mul %ye, %ye"), "precompute r0 4 at a0") != "");
  CHECK(refused(graph("%t = mul %e, %ye"), "precompute r1 4 at a0") != "");
  CHECK(refused(graph("%t = mul %e, %ye"), "precompute a0 4 at a0") != "");
}

TEST_CASE("a loop of one iteration that fills a tile for others is no place of the launch") {
  Builder builder;
  Kernel kernel = build_kernel(parse_graph(precompute_text({}), builder));
  for (const char* step : {"split a1 6", "precompute r0 5 at a0", "split r0.n 16"})
    REQUIRE_FALSE(try_apply(kernel, parse_transforms(step)[0]));
  CHECK(try_apply(kernel, parse_transforms("bind r0.n.o grid.x")[0]));
  CHECK_FALSE(try_apply(kernel, parse_transforms("unroll r0.n.o")[0]));
}
