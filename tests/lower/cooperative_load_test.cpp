// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative loads: tiles that a workgroup's threads fill and load together.
#include <catch2/catch_test_macros.hpp>

#include "core/kernel/templates/templates.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "tests/lower/attention.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

const std::vector<std::pair<const char*, Attention>> kShareKinds = {
    {"all", {}},
    {"causal", {.unmasked = kCausal}},
    {"window", {.unmasked = kWindow}},
    {"a tail of keys", {.keys = 29}},
    {"f16", {.size = 8, .values = 16, .dtype = "f16"}},
    {"queries that fill no block", {.queries = 75, .keys = 31, .size = 4, .values = 20}},
};

/// Of products on matrix atoms, whose size is 16.
const char* const kOnAtoms =
    "split a1 32; online_softmax r2 16 at a1.o pad 8 sums; cooperative_load a1.o; bind a1.o "
    "grid.x; "
    "split a1.i 16; split r2.i 8; bind a1.i.o block.y; unroll a1.i.i; unroll r2.i.o; "
    "unroll r2.i.i; split a1.i.f 16; split a2.f 8; bind a1.i.f.o block.y; unroll a1.i.f.i; "
    "unroll a2.f.o; unroll a2.f.i; stage b0 at a1.o pad 8; stage b1 at r2.o pad 8; "
    "stage b2 at r2.o pad 8; tensorize a1.i.i r2.i.i r3 32; "
    "tensorize a1.i.f.i a2.f.i r2.i.f 32; bind a1.i.m block.x; bind a1.i.p block.x";

Case share_case(const Attention& a) { return {text(a), {}, {}, a.dtype == "f32" ? 2e-5 : 2e-2}; }

std::string refusal_of(const std::string& list, const Attention& a = {}) {
  Builder builder;
  Kernel kernel = build_kernel(parse_graph(text(a), builder));
  std::string out;
  for (const WrittenTransform& t : parse_transforms(list)) {
    CHECK(out.empty());
    if (const auto no = try_apply(kernel, t)) out = no->message;
  }
  return out;
}

}  // namespace

TEST_CASE("threads fill tiles together and meet before others take them") {
  const std::string start =
      "split a1 8; online_softmax r2 8 at a1.o; cooperative_load a1.o; bind a1.o grid.x; ";
  const std::string lists[] = {
      start,
      start + "bind a1.i block.x; bind a1.i.m block.x; bind a1.i.p block.x; bind a1.i.f block.x",
      // Of each part of the work other threads.
      start +
          "split r2.i 4; bind r2.i.i block.x; bind a1.i.m block.y; group r2.i.m 4; "
          "bind a1.i.p block.y; group r2.i.p 4; bind a1.i.f block.y; bind a1.i.z block.y; "
          "bind a1.i.c block.y",
      start +
          "bind a1.i block.x; split r2.i 2; bind r2.i.o block.y; bind a1.i.m block.x; "
          "group r2.i.m 4; group r2.i.p 8",
      "split a1 8; online_softmax r2 8 at a1.o pad 3 sums; cooperative_load a1.o; bind a1.o "
      "grid.x; bind a1.i block.x; "
      "bind a1.i.m block.x; bind a1.i.p block.x; bind a1.i.f block.x",
      "split a1 8; online_softmax r2 8 at a1.o pad 1 inner r2 sums; cooperative_load a1.o; split "
      "r2.i 2; bind r2.i.o "
      "block.x; "
      "group r2.i.p 4",
      start + "group r2.i.m 4; bind a1.i.z block.y; bind a1.i.z_ block.y",
  };
  for (const auto& [name, a] : kShareKinds)
    for (const std::string& list : lists) {
      INFO(name << ": " << list);
      CHECK(difference(share_case(a), gpu_like(), list, false) == "");
    }
}

TEST_CASE("threads meet between the whole part of a loop and its tail, be it one iteration") {
  for (const Attention& a :
       {Attention{.queries = 12, .keys = 12}, Attention{.queries = 8, .keys = 13}})
    for (const char* list :
         {"split a1 8; online_softmax r2 8 at a1.o; cooperative_load a1.o; bind a0 grid.x; "
          "bind a1.i.c block.x; bind a1.i.z_ block.x",
          "split a1 8; online_softmax r2 8 at a1.o; cooperative_load a1.o; bind a0 grid.x; "
          "bind a1.i block.x; bind a1.i.f block.x"}) {
      INFO(list);
      CHECK(difference(share_case(a), gpu_like(), list, false) == "");
    }
}

TEST_CASE(
    "any list after cooperative_load gives the same result, and no two threads meet in memory") {
  const WrittenTransforms starts[] = {
      parse_transforms(
          "split a1 6; online_softmax r2 4 at a1.o; cooperative_load a1.o; bind a1.o grid.x"),
      parse_transforms(
          "split a1 8; online_softmax r2 5 at a1.o; cooperative_load a1.o; split a1.i.m 4; "
          "bind a1.i.m.i block.x; split a1.i 4; bind a1.i.i block.x"),
      parse_transforms("online_softmax r2 6 at a0 inner r2; cooperative_load a0; split r2.i 4; "
                       "bind r2.i.i block.y")};
  int shared = 0;
  for (const auto& [name, a] : kShareKinds) {
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(text(a), builder));
    for (uint32_t seed = 1; seed <= 12; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      const auto drawn = random_transforms(
          kernel, below, {.vectors = seed % 2 != 0, .threads = true, .first = starts[seed % 3]});
      const std::string list = list_text(drawn);
      INFO(name << " seed " << seed << ": " << list);
      shared += list.find("cooperative_load") != std::string::npos;
      CHECK(difference_of_drawn(share_case(a), everything(), list, seed) == "");
    }
  }
  CHECK(shared >= 40);
}

TEST_CASE("matrix atoms put scores into a tile, take weights from one, and keep totals") {
  const std::string list = kOnAtoms;
  const std::vector<std::pair<const char*, Attention>> kinds = {
      {"all", {.queries = 64, .keys = 48, .size = 16, .values = 16}},
      {"tails", {.queries = 75, .keys = 41, .size = 16, .values = 24}},
      {"one tail of keys", {.queries = 32, .keys = 9, .size = 16, .values = 8}},
      {"causal", {.queries = 20, .keys = 24, .size = 16, .values = 16, .unmasked = kCausal}},
      {"masked by -inf",
       {.queries = 20,
        .keys = 24,
        .size = 16,
        .values = 16,
        .unmasked = kCausal,
        .masked_score = "-inf",
        .masks_weights = false}},
  };
  for (auto [name, a] : kinds) {
    INFO(name);
    a.dtype = "f16";
    Builder builder;
    const Graph graph = parse_graph(text(a), builder);
    const std::string tree = print(lower(graph, warps_like(), list, false).chosen.kernel);
    INFO(tree);
    CHECK(tree.find("after what it was times") != std::string::npos);
    CHECK(difference(share_case(a), warps_like(), list, false) == "");
    CHECK(difference(share_case(a), warps_like(), list + "; multi_buffer r2.o 2", false) == "");
  }
}

TEST_CASE("totals are those of the iteration before, whatever loops are around") {
  std::string list = kOnAtoms;
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = list.find(from, at)) != std::string::npos; at += to.size())
      list.replace(at, from.size(), to);
  };
  replace("at r2.o pad", "at r2.o.i pad");
  replace("cooperative_load a1.o; ", "cooperative_load a1.o; split r2.o 2; ");
  for (const int64_t keys : {64, 48, 41}) {
    const Attention a{.queries = 40, .keys = keys, .size = 16, .values = 16, .dtype = "f16"};
    CHECK(difference(share_case(a), warps_like(), list, false) == "");
  }
}

TEST_CASE("attention of narrow floats is one kernel where there are matrix atoms") {
  const std::vector<std::pair<const char*, Attention>> kinds = {
      {"all", {.queries = 96, .keys = 80, .size = 16, .values = 16}},
      {"causal", {.queries = 96, .keys = 96, .size = 16, .values = 16}},
      {"one block of keys", {.queries = 64, .keys = 64, .size = 16, .values = 8}},
      {"tails", {.queries = 75, .keys = 131, .size = 20, .values = 40}},
      {"heads that share keys",
       {.heads = 4, .queries = 64, .keys = 70, .size = 16, .values = 16, .each = 2}},
      {"one buffer", {.queries = 64, .keys = 64, .size = 16, .values = 16, .fused = true}},
  };
  for (const char* dtype : {"f16", "bf16"})
    for (auto [name, a] : kinds) {
      INFO(name << " " << dtype);
      a.dtype = dtype;
      if (std::string_view(name) == "causal") a.unmasked = kCausal;
      Builder builder;
      const Graph graph = parse_graph(text(a), builder);
      CHECK(choose_fused(build_kernel(graph), warps_like()).has_value());
      const std::string list = list_text(lower(graph, warps_like(), "", true).chosen);
      INFO(list);
      CHECK(list.find("tensorize") != std::string::npos);
      CHECK(difference(share_case(a), warps_like(), "", true) == "");
    }
}

TEST_CASE("random lists apply cooperative_load") {
  int lists = 0, shared = 0;
  for (const auto& [name, a] : kShareKinds)
    for (const std::string& list : random_lists(text(a), 10, {.threads = true})) {
      ++lists;
      shared += list.find("cooperative_load") != std::string::npos;
    }
  INFO(shared << " of " << lists);
  CHECK(shared * 8 > lists);
}

TEST_CASE("cooperative_load is refused where a workgroup has no tile to share") {
  const auto says = [](const std::string& list, const std::string& what) {
    INFO(list);
    CHECK(refusal_of(list).find(what) != std::string::npos);
  };
  says("cooperative_load a1", "expected tiles that loops inside a1 fill and load, got none");
  says("split a1 8; online_softmax r2 8 at a1.o; unroll a1.i.m; cooperative_load a1.o",
       "not bound inside");
  says("split a1 8; online_softmax r2 8 at a1.o; bind a1.o block.x; cooperative_load a1.o",
       "whole workgroups");
  says("split a1 8; online_softmax r2 8 at a1.o; cooperative_load a1.o; bind a1.o block.x",
       "load only what they store");
  says("split a1 8; online_softmax r2 8 at a1.o; cooperative_load a1.o; bind a1.i grid.x",
       "tiles of their own");
  const Attention narrow{.queries = 64, .keys = 48, .size = 16, .values = 16, .dtype = "f16"};
  const auto after_atoms = [&](const std::string& more, const std::string& what) {
    INFO(more);
    const std::string wrong = refusal_of(std::string(kOnAtoms) + more, narrow);
    INFO(wrong);
    CHECK(wrong.find(what) != std::string::npos);
  };
  after_atoms("; split r2.o 2", "carries no sums");
  after_atoms("; pad r2.o 2", "carries no sums");
  after_atoms("; reorder a1.i.i r2.i.o", "expected this before tensorize");
  says("split a1 8; online_softmax r2 8 at a1.o; cooperative_load r2.o", "used inside r2.o alone");
  std::string whole = kOnAtoms;  // no tile there follows a1.o
  for (size_t at; (at = whole.find("stage ")) != std::string::npos;)
    whole.erase(at, whole.find("; ", at) + 2 - at);
  whole.replace(whole.find("bind a1.o grid.x; "), 18, "");
  CHECK(refusal_of(whole + "; unroll a1.o", narrow).find("expected unroll before tensorize") !=
        std::string::npos);
}

TEST_CASE("threads that meet in a loop have as many iterations of it") {
  const Attention causal{.queries = 128, .keys = 128, .unmasked = kCausal};
  const std::string wrong = refusal_of(
      "split a1 64; split a1.i 2; online_softmax r2 8 at a1.i.o; bind a1.i.o block.x; stage b1 at "
      "r2.o",
      causal);
  INFO(wrong);
  CHECK(wrong.find("expected one range for all threads in a loop with barriers") !=
        std::string::npos);
}
