// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles: rows of scores in registers, by the atom's fragment layout.
#include "core/kernel/tree/register_tiles.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/kernel/tree/build.hpp"
#include "core/kernel/tree/shared_tiles.hpp"
#include "sdk/program/text.hpp"
#include "tests/lower/attention.hpp"
#include "tests/lower/harness.hpp"

namespace tenon::test {
namespace {

Case case_of(const Attention& a) { return {text(a), {}, {}, 2e-2}; }

LoweredKernel attention(const Attention& a, const std::string& list = "") {
  Builder builder;
  return lower(parse_graph(text(a), builder), warps_like(), list, list.empty());
}

/// Tiles of what loops fill that a workgroup shares.
int shared_tiles(const Kernel& kernel) {
  const std::optional<Kernel> placed = with_register_tiles(kernel, warps_like());
  return static_cast<int>(
      std::ranges::count_if((placed ? *placed : kernel).buffers, is_shared_tile));
}

int count_of(const std::string& text, std::string_view what) {
  int count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

std::string with(std::string list, std::string_view from, std::string_view to) {
  const size_t at = list.find(from);
  REQUIRE(at != std::string::npos);
  return list.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("rows stay with the threads that an atom says have them") {
  const Attention wide{.queries = 256, .keys = 128, .size = 16, .values = 16, .dtype = "f16"};
  const LoweredKernel lowered = attention(wide);
  const std::string list = list_text(lowered.chosen);
  INFO(list);
  CHECK(list.find("across 4") != std::string::npos);
  CHECK(shared_tiles(lowered.chosen.kernel) == 0);
  // Threads meet around what they copy alone.
  const std::string program = sdk::print_program(lowered.program.view());
  INFO(program);
  CHECK(count_of(program, "barrier block") <= 6);
  CHECK(count_of(program, "matrix_store") == 0);
  CHECK(count_of(program, "exp.approximate") + count_of(program, "approximate") > 0);
  CHECK(difference(case_of(wide), warps_like(), "", true) == "");
}

TEST_CASE("rows are shared where the atom does not say who has them") {
  const Attention untold{.queries = 64, .keys = 64, .size = 16, .values = 16, .dtype = "bf16"};
  const LoweredKernel lowered = attention(untold);
  CHECK(list_text(lowered.chosen).find("across") == std::string::npos);
  CHECK(shared_tiles(lowered.chosen.kernel) > 0);
}

TEST_CASE("masks and tails of rows that stay in registers") {
  for (auto [queries, keys, unmasked, hidden] : {std::tuple{150, 100, kCausal, "-1e30"},
                                                 {64, 131, kCausal, "-inf"},
                                                 {33, 64, "", ""},
                                                 {20, 24, kWindow, "-1e30"}}) {
    Attention a{.queries = queries, .keys = keys, .size = 24, .values = 40, .dtype = "f16"};
    a.unmasked = unmasked;
    if (*hidden) a.masked_score = hidden;
    INFO(queries << " " << keys << " " << unmasked);
    CHECK(difference(case_of(a), warps_like(), "", true) == "");
  }
}

TEST_CASE("a tile is shared once a loop's threads take other elements of it") {
  const Attention a{.queries = 64, .keys = 64, .size = 16, .values = 16, .dtype = "f16"};
  const std::string list = list_text(attention(a).chosen);
  INFO(list);
  REQUIRE(list.find("across 4") != std::string::npos);
  REQUIRE(shared_tiles(attention(a, list).chosen.kernel) == 0);
  // Neighbouring rows by the threads of one row, or rows that a loop goes through.
  for (const auto& [from, to] : {std::pair{"unroll a1.i.m.i.o; ", ""}, {"unroll r2.i.p.o; ", ""}}) {
    INFO(from);
    const std::string other = with(list, from, to);
    CHECK(shared_tiles(attention(a, other).chosen.kernel) > 0);
    CHECK(difference(case_of(a), warps_like(), other, false) == "");
  }
}

TEST_CASE("any list around rows in registers gives the same result") {
  int across = 0;
  for (auto [queries, keys] : {std::pair{64, 64}, {75, 100}}) {
    Attention a{.queries = queries, .keys = keys, .size = 16, .values = 16, .dtype = "f16"};
    a.unmasked = queries == 75 ? kCausal : "";
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(text(a), builder));
    const Chosen chosen = attention(a).chosen;
    const WrittenTransforms whole = written(chosen.kernel, chosen.list);
    for (uint32_t seed = 1; seed <= 24; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      // What the template does up to some point, but one step, then what is drawn.
      WrittenTransforms first(whole.begin(), whole.end() - below(8));
      if (below(2)) first.erase(first.end() - 1 - below(static_cast<uint32_t>(first.size()) / 2));
      const auto drawn = random_transforms(kernel, below, {.threads = true, .first = first});
      const std::string list = list_text(drawn);
      INFO(seed << ": " << list);
      across += list.find("across") != std::string::npos;
      CHECK(difference_of_drawn(case_of(a), warps_like(), list, seed) == "");
    }
  }
  CHECK(across >= 20);
}

TEST_CASE("elements of a tile in registers are dense, whatever is between them") {
  KernelBuffer tile;
  tile.digits = {{1, 2}, {8, 8}, {544, 2}};
  CHECK(register_place(tile, 0) == 0);
  CHECK(register_place(tile, 1) == 1);
  CHECK(register_place(tile, 8 * 3 + 1) == 7);
  CHECK(register_place(tile, 544 + 8 * 7 + 1) == 31);
  // mma.m16n8k16: lanes 0 and 1 are neighbours, lanes 2 and 3 eight rows below.
  const AtomLayout sums = *warps_like().atoms[0].layouts[2];
  CHECK(lane_offsets(sums, 4, 68, 1) == std::vector<int64_t>{0, 1, 8 * 68, 8 * 68 + 1});
  CHECK(lane_offsets(sums, 4, 1, 0) == std::vector<int64_t>{0, 0, 8, 8});
}

TEST_CASE("powers below a maximum are less exact where what is stored of them is rounded") {
  const auto count = [](std::string graph, std::string_view from, std::string_view to) {
    if (!from.empty()) graph = with(graph, from, to);
    Builder builder;
    const std::string tree =
        print(lower(parse_graph(graph, builder), warps_like(), "", true).chosen.kernel);
    INFO(graph << tree);
    return std::pair(count_of(tree, "exp.approximate("), count_of(tree, "exp("));
  };
  const std::string graph =
      text({.queries = 64, .keys = 64, .size = 16, .values = 16, .dtype = "f16"});
  INFO(graph);
  const auto [fast, exact] = count(graph, "", "");
  CHECK(fast >= 1);
  CHECK(exact == 1);  // by which totals are scaled
  // Those that scores are made of stay exact, wherever they are computed.
  const size_t maximum = graph.find("reduce.max %");
  REQUIRE(maximum != std::string::npos);
  const size_t name = maximum + 11, end = graph.find(',', name);
  const std::string score = graph.substr(name, end - name);
  const std::string at = "%" + score.substr(1);
  std::string nested = graph;
  const size_t line = nested.rfind('\n', nested.find("reduce.max"));
  nested.insert(line, "\n %grown = exp " + at);
  for (size_t i = nested.find("%grown") + 12 + at.size();
       (i = nested.find(at, i)) != std::string::npos;) {
    const char after = nested[i + at.size()];
    if (!std::isalnum(static_cast<unsigned char>(after)) && after != '_')
      nested.replace(i, at.size(), "%grown");
    i += 6;
  }
  const auto [still, more] = count(nested, "", "");
  CHECK(still == fast);
  CHECK(more > exact);
}

TEST_CASE("tensorize says which threads a subgroup may be spread over") {
  Builder builder;
  const Kernel kernel = build_kernel(parse_graph(
      text({.queries = 64, .keys = 64, .size = 16, .values = 16, .dtype = "f16"}), builder));
  Kernel copy = kernel;
  const auto refusal = [&](const std::string& list) {
    copy = kernel;
    for (const WrittenTransform& t : parse_transforms(list))
      if (const auto no = try_apply(copy, t)) return no->message;
    return std::string();
  };
  const std::string start =
      "split a1 64; online_softmax r2 64 at a1.o sums; cooperative_load a1.o; split a1.i 16; split "
      "r2.i 8; "
      "unroll a1.i.i; unroll r2.i.o; unroll r2.i.i; split r3 16; ";
  CHECK(refusal(start + "tensorize a1.i.i r2.i.i r3.i 32 across 5").find("a part of the 32") !=
        std::string::npos);
  CHECK(refusal(start + "bind a1.i.o block.y; tensorize a1.i.i r2.i.i r3.i 32 across 4")
            .find("no threads of a subgroup") != std::string::npos);
  CHECK(refusal(start + "tensorize a1.i.i r2.i.i r3.i 32 across 4; bind a1.i.m block.y")
            .find("the 8 threads of a matrix") != std::string::npos);
}

}  // namespace tenon::test
