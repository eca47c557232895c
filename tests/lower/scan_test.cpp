// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans: sums of the terms before a position are one loop that carries the sum.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/support/error.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Running results in blocks of the last axis, or of the first.
struct Running {
  int64_t rows = 3, blocks = 2, size = 20, cut = 0;  ///< elements that the result lacks
  std::string op = "add", none = "0", dtype = "f32";
  bool after = false;  ///< from a position on
  bool hides = true;   ///< the mask says what is left out
  bool columns = false;
};

std::string scan_text(const Running& c) {
  const int64_t n = c.blocks * c.size;
  const auto shape = [&](const std::vector<int64_t>& sizes, const std::string& dtype) {
    return fmt::format("{}[{}]", dtype, fmt::join(sizes, ", "));
  };
  const std::vector<int64_t> terms{c.rows, c.blocks, c.size, c.size};
  const std::string positions = shape(terms, "i64");
  std::string out =
      "graph g(%x: " +
      shape(c.columns ? std::vector<int64_t>{n, c.rows} : std::vector<int64_t>{c.rows, n},
            c.dtype) +
      ") {\n";
  out += c.columns ? " %p = permute %x, axes=[1, 0]\n"
                   : " %p = reshape %x : " + shape({c.rows, n}, c.dtype) + "\n";
  out += " %b = reshape %p : " + shape({c.rows, c.blocks, c.size, 1}, c.dtype) +
         "\n %t = expand %b : " + shape(terms, c.dtype) + "\n %none = const " + c.none + " : " +
         shape(terms, c.dtype) + "\n %k = index axis=2 : " + positions +
         "\n %j = index axis=3 : " + positions + "\n";
  if (c.hides) {
    out += c.after ? " %c = cmplt %k, %j\n" : " %c = cmplt %j, %k\n";
    out += " %w = where %c, %none, %t\n";
  } else {
    out += " %one = const 1 : " + positions + "\n %next = add " + (c.after ? "%k" : "%j") +
           ", %one\n %c = cmplt " + (c.after ? "%j" : "%k") + ", %next\n";
    out += " %w = where %c, %t, %none\n";
  }
  out += " %s = reduce." + c.op +
         " %w, axes=[2]\n %r = reshape %s : " + shape({c.rows, n}, c.dtype) + "\n";
  out += fmt::format(" %y = shrink %r, ranges=[(0, {}), (0, {})]\n", c.rows, n - c.cut);
  out += " %z = add %y, %y\n";
  if (c.columns) out += " %q = permute %z, axes=[1, 0]\n";
  return out + " return " + (c.columns ? "%q" : "%z") + "\n}";
}

const std::pair<const char*, Running> kScanKinds[] = {
    {"sums", {}},
    {"sums of one block", {.blocks = 1}},
    {"short blocks", {.blocks = 9, .size = 3}},
    {"blocks of lanes", {.rows = 2, .blocks = 3, .size = 32}},
    {"one row", {.rows = 1, .blocks = 7, .size = 16}},
    {"a part", {.blocks = 3, .size = 16, .cut = 5}},
    {"what is shown", {.hides = false}},
    {"from a position on", {.after = true}},
    {"from a position on, what is shown", {.size = 32, .after = true, .hides = false}},
    {"a part, from a position on", {.cut = 5, .after = true}},
    {"columns", {.rows = 37, .columns = true}},
    {"columns, from a position on", {.rows = 37, .cut = 20, .after = true, .columns = true}},
    {"long rows across", {.rows = 300, .blocks = 3, .size = 8, .columns = true}},
    {"long rows across, a part, from a position on",
     {.rows = 289, .blocks = 3, .size = 8, .cut = 8, .after = true, .columns = true}},
    {"long rows across, a part",
     {.rows = 289, .blocks = 3, .size = 8, .cut = 3, .op = "max", .none = "-inf", .columns = true}},
    {"products", {.op = "mul", .none = "1", .dtype = "i32"}},
    {"maxima", {.op = "max", .none = "-inf"}},
    {"integers", {.dtype = "i64"}},
};

Case scan_case(const Running& c) { return {scan_text(c), {}, {}}; }

Chosen chosen_scan(const Running& c, const Capabilities& capabilities) {
  Builder builder;
  return lower(parse_graph(scan_text(c), builder), capabilities, "", true).chosen;
}

}  // namespace

TEST_CASE("scans are one loop by the templates for processors with vectors") {
  for (const auto& [name, c] : kScanKinds) {
    const std::string tree = print(chosen_scan(c, cpu_like()));
    INFO(name << "\n" << tree);
    const bool turned_part = c.after && c.cut % c.size != 0;
    const bool runs = tree.find("running") != std::string::npos ||
                      tree.find("for ordered r0") != std::string::npos;
    CHECK(runs == !turned_part);
    CHECK(difference(scan_case(c), cpu_like(), "", true) == "");
  }
  CHECK_THAT(print(chosen_scan(kScanKinds[3].second, cpu_like())),
             ContainsSubstring("for r0.i in 16 @vector"));
  CHECK_THAT(print(chosen_scan(kScanKinds[10].second, cpu_like())), ContainsSubstring("@vector"));
  CHECK_THAT(print(chosen_scan(kScanKinds[12].second, cpu_like())),
             ContainsSubstring("for ordered r0 in 8"));
  Capabilities still = cpu_like();
  still.native_ops[static_cast<uint32_t>(Op::COMPOSE) >> 6] &=
      ~(uint64_t{1} << (static_cast<uint32_t>(Op::COMPOSE) & 63));
  CHECK(difference(scan_case(kScanKinds[3].second), still, "", true) == "");
}

TEST_CASE("scans agree with the reference however their loops run") {
  for (const auto& [name, c] : kScanKinds) {
    const std::string start =
        c.blocks == 1 ? "" : fmt::format("split a{} {}; ", c.rows > 1 ? 1 : 0, c.size);
    const std::string j =
        fmt::format("a{}{}", c.rows > 1 && !c.columns ? 1 : 0, c.blocks == 1 ? "" : ".i");
    if (c.columns || (c.after && c.cut % c.size != 0)) continue;
    for (const char* rest :
         {"", "; split r0 4; vectorize r0.i", "; split r0 5; split r0.i 2",
          "; pad r0 32; split r0 8; vectorize r0.i", "; split r0 16; vectorize r0.i",
          "; split r0 1; split r0.i 2; vectorize r0.i.i"}) {
      const std::string list = start + "scan r0 " + j + rest;
      INFO(name << ": " << list);
      CHECK(difference(scan_case(c), everything(), list, false) == "");
    }
  }
}

TEST_CASE("any list after scan gives the same result") {
  int scanned = 0;
  for (const auto& [name, c] : kScanKinds) {
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(scan_text(c), builder));
    const Chosen chosen = chosen_scan(c, cpu_like());
    WrittenTransforms first = written(chosen.kernel, chosen.list);
    while (!first.empty() && kind_of(first.back()) != TransformKind::kScan) first.pop_back();
    if (first.empty()) continue;
    for (uint32_t seed = 1; seed <= 12; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      const auto drawn = random_transforms(
          kernel, below, {.vectors = seed % 2 != 0, .threads = seed % 4 < 2, .first = first});
      const std::string list = list_text(drawn);
      INFO(name << " seed " << seed << ": " << list);
      scanned += list.find("scan") != std::string::npos;
      CHECK(difference_of_drawn(scan_case(c), everything(), list, seed) == "");
    }
  }
  CHECK(scanned >= 100);
}

TEST_CASE("random lists make scans by themselves, and take compute_at") {
  int lists = 0, scanned = 0, sunk = 0;
  for (const auto& [name, c] : kScanKinds) {
    for (const std::string& list : random_lists(scan_text(c), 20, {.steps = 3})) {
      const size_t scan = list.find("scan");
      ++lists;
      scanned += scan != std::string::npos;
      sunk += scan != std::string::npos && list.find("compute_at", scan) != std::string::npos;
    }
  }
  INFO(scanned << " and " << sunk << " of " << lists);
  CHECK(scanned * 4 > lists);
  CHECK(sunk * 40 > lists);
}

TEST_CASE("scan is refused where terms are others than those before a position") {
  const auto refusal = [](std::string graph, const char* list) {
    Builder builder;
    Kernel kernel = build_kernel(parse_graph(graph, builder));
    WrittenTransforms steps = parse_transforms(list);
    const WrittenTransform last = steps.back();
    steps.pop_back();
    apply_transforms(kernel, steps);
    const std::string before = print(kernel);
    const std::optional<Refusal> no = try_apply(kernel, last);
    CHECK((print(kernel) == before) == no.has_value());
    return no ? no->message : "";
  };
  const auto changed = [](const Running& c, const std::string& from, const std::string& to) {
    std::string out = scan_text(c);
    const size_t at = out.find(from);
    REQUIRE(at != std::string::npos);
    return out.replace(at, from.size(), to);
  };
  const char* const list = "split a1 20; scan r0 a1.i";
  CHECK(refusal(scan_text({}), list).empty());
  CHECK_THAT(refusal(scan_text({}), "scan r0 a1"), ContainsSubstring("axes of one extent"));
  CHECK_THAT(refusal(scan_text({}), "split a1 20; scan a1.i r0"),
             ContainsSubstring("a reduce axis"));
  CHECK_THAT(refusal(scan_text({}), "split a1 20; reorder a1.o a1.i a0; scan r0 a1.i"),
             ContainsSubstring("a reduction directly inside a1.i"));
  CHECK_THAT(refusal(scan_text({}), "split a1 20; pad r0 32; scan r0 a1.i"),
             ContainsSubstring("axes of one extent"));
  CHECK_THAT(refusal(scan_text({.cut = 5, .after = true}), list),
             ContainsSubstring("an axis without padding"));
  // Another number than the identity, terms before the position alone, terms that know of it.
  CHECK_THAT(refusal(changed({}, "const 0 ", "const 1 "), list),
             ContainsSubstring("masked to those"));
  CHECK_THAT(refusal(changed({}, "cmplt %j, %k", "cmpne %j, %k"), list),
             ContainsSubstring("masked to those"));
  CHECK_THAT(refusal(changed({.hides = false}, "cmplt %k, %next", "cmplt %k, %j"), list),
             ContainsSubstring("masked to those"));
  CHECK_THAT(refusal(changed({.dtype = "i64"}, "%w = where %c, %none, %t",
                             "%u = mul %t, %j\n %w = where %c, %none, %u"),
                     list),
             ContainsSubstring("masked to those"));
  // What follows is refused where it would change the order.
  const char* const scanned = "split a1 20; scan r0 a1.i; split r0 5; ";
  for (const char* after : {"unroll r0.i", "unroll r0.o", "vectorize r0.o", "reorder r0.i r0.o",
                            "group r0.o 2", "bind r0.o grid.x"}) {
    INFO(after);
    CHECK(!refusal(scan_text({}), (std::string(scanned) + after).c_str()).empty());
  }
}
