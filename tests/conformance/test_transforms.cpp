// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 3: kernels with transforms of a case's own.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/conformance/judged.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::judge;

namespace {

constexpr std::string_view kRows = R"(graph rows(%x: f32[9, 33], %y: f32[9, 33]) {
  %m = mul %x, %y : f32[9, 33]
  %s = reduce.add %m, axes=[1] : f32[9, 1]
  %t = add %s, %s : f32[9, 1]
  return %t
})";

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("a sound plugin gives right answers under random transforms") {
  Harness harness(interpreter());
  Case test = case_of(kRows, harness.builder());
  std::set<std::string> kinds;
  const std::set<std::string> wanted = {"split",     "fuse", "reorder", "pad",   "unroll",
                                        "vectorize", "bind", "group",   "stage", "compute_at"};
  const auto has_all = [&] { return std::ranges::includes(kinds, wanted); };
  for (uint64_t seed = 1; seed <= 60 || (seed <= 1000 && !has_all()); ++seed) {
    test.transform_seed = seed;
    const Outcome outcome = judged(harness, test);
    INFO(seed << ": " << outcome.transforms << "\n" << outcome.kind << " " << outcome.text);
    REQUIRE(outcome.status == Status::kPass);
    REQUIRE(!outcome.transforms.empty());
    for (std::string text = outcome.transforms; !text.empty();) {
      kinds.insert(text.substr(0, text.find_first_of(" ;\n")));
      const size_t next = text.find_first_of(";\n");
      text = next == text.npos ? "" : text.substr(text.find_first_not_of(" ;\n", next));
    }
  }
  for (const std::string& kind : wanted) {
    INFO(kind);
    CHECK(kinds.contains(kind));
  }
}

TEST_CASE("equal seeds give equal transforms, and written lists run as they are") {
  Harness harness(interpreter());
  Case test = case_of(kRows, harness.builder());
  test.transform_seed = 11;
  const Outcome first = judged(harness, test), again = judged(harness, test);
  CHECK(first.transforms == again.transforms);
  CHECK(first.digest == again.digest);
  test.transform_seed.reset();
  test.transforms = lines(first.transforms);
  const Outcome written = judged(harness, test);
  INFO(written.kind << " " << written.text);
  CHECK(written.status == Status::kPass);
  CHECK(written.transforms == first.transforms);
}

TEST_CASE("sums that are computed at a tile are the same bits") {
  Harness harness(interpreter());
  const auto passes = [&](std::string_view graph, const std::vector<std::string>& lists) {
    Case test = case_of(graph, harness.builder());
    for (const std::string& list : lists) {
      test.transforms = {list};
      const Outcome outcome = judged(harness, test);
      INFO(list << ": " << outcome.kind << " " << outcome.text);
      REQUIRE(outcome.status == Status::kPass);
    }
  };
  passes(
      R"(graph product(%x: i32[9, 33], %y: i32[33, 21]) {
  %a = reshape %x : i32[9, 33, 1]
  %b = expand %a : i32[9, 33, 21]
  %c = reshape %y : i32[1, 33, 21]
  %d = expand %c : i32[9, 33, 21]
  %m = mul %b, %d : i32[9, 33, 21]
  %s = reduce.add %m, axes=[1] : i32[9, 1, 21]
  %t = mul %s, %s : i32[9, 1, 21]
  return %t
})",
      {"split r0 8; compute_at r0.i a0",
       "split a0 4; split a1 8; reorder a0.o a1.o a0.i a1.i; unroll a0.i; vectorize a1.i; "
       "split r0 5; compute_at r0.i a1.o; stage b1 at r0.o; stage b0 at r0.o; unroll a0.i.c",
       "split a0 4; reorder a0.o a1 a0.i; vectorize a0.i; unroll r0; compute_at r0 a0.o; pad a1 5; "
       "split a1.c 4; unroll a1.c.i; bind a0.o grid.x",
       "split r0 16; pad r0.o 5; compute_at r0.i a0; compute_at r0.i r0.o; split r0.o 2; split a1 "
       "4"});
  // A loop of one iteration that grows: the tile's only element does not follow it.
  passes(kRows, {"split a0 1; compute_at r0 a0.o; split a0.i.c 5; unroll a0.i.c.i",
                 "split a0 1; compute_at r0 a0.o; pad a0.i.c 4; vectorize a0.i.c"});
  passes(R"(graph gather(%x: i32[9, 8], %i: i32[13], %w: i32[9]) {
  %s = reduce.add %x, axes=[1] : i32[9, 1]
  %n = reduce.min %x, axes=[1] : i32[9, 1]
  %d = sub %s, %n : i32[9, 1]
  %r = reshape %d : i32[9]
  %t = take %r, %i, axis=0 : i32[13]
  %u = take %w, %i, axis=0 : i32[13]
  %y = add %t, %u : i32[13]
  return %y
})",
         {"split a0 4; compute_at r0 a0.o",
          "split a0 4; split r0 3; unroll a0.i; compute_at r0.i a0.o"});
}

TEST_CASE("every prefix of a list runs") {
  Harness harness(interpreter());
  Case test = case_of(kRows, harness.builder());
  for (const uint64_t seed : {3, 5, 8}) {
    test.transform_seed = seed;
    test.transforms.clear();
    std::string list = judged(harness, test).transforms;
    test.transform_seed.reset();
    while (list != "none") {
      test.transforms = {list};
      const Outcome outcome = judged(harness, test);
      INFO(list << ": " << outcome.kind << " " << outcome.text);
      REQUIRE(outcome.status == Status::kPass);
      CHECK(outcome.transforms == list);
      const size_t end = list.rfind(';');
      list = end == list.npos ? "none" : list.substr(0, end);
    }
  }
}

TEST_CASE("a written list that does not fit is a failure of its own kind") {
  Harness harness(interpreter());
  Case test = case_of(kRows, harness.builder());
  for (const char* list : {"split nowhere 4", "unroll a0; unroll a0", "bad words"}) {
    test.transforms = {list};
    const Outcome outcome = judged(harness, test);
    INFO(list << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.kind == "transforms");
    CHECK(outcome.text.find(list) != std::string::npos);
  }
}

TEST_CASE("a written list that needs more than the device has is unsupported") {
  Harness harness(
      Target{"planted:0@bug=tiny_limits",
             std::string(TENON_BINARY_DIR) + "/lib/tenon-selftest/libtenon_planted.so"});
  Case test = case_of(kRows, harness.builder());
  test.transforms = {"group r0 16"};
  const Outcome outcome = judged(harness, test);
  INFO(outcome.text);
  CHECK(outcome.status == Status::kUnsupported);
  CHECK(outcome.kind == "transforms");
}

TEST_CASE("a bug in staged kernels is found by transforms alone") {
  Harness harness(planted_copy("staged"));
  Case test = case_of(kRows, harness.builder());
  CHECK(judged(harness, test).status == Status::kPass);
  bool found = false;
  for (uint64_t seed = 1; seed <= 60 && !found; ++seed) {
    test.transform_seed = seed;
    const Outcome outcome = judged(harness, test);
    found = outcome.status == Status::kFail;
    if (!found) continue;
    INFO(outcome.transforms << "\n" << outcome.text);
    CHECK(outcome.kind == "mismatch");
    CHECK(!outcome.diff.empty());
    // All that goes through memory of a workgroup or a thread.
    const auto has = [&](const char* word) {
      return outcome.transforms.find(word) != outcome.transforms.npos;
    };
    CHECK((has("stage") || has("cache_reduction") || has("group") || has("compute_at")));
  }
  CHECK(found);
}
