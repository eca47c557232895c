// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowered programs compute what the reference computes, whatever the schedule.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/kernel/templates/templates.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/support/error.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {
/// Iterations of all loops together: padding on padding makes lists that take minutes.
double iterations(const Kernel& kernel, const std::vector<Statement>& body) {
  double total = 1;
  for (const Statement& s : body) {
    const bool loop = s.kind == Statement::Kind::kLoop;
    const double times = loop ? static_cast<double>(kernel.axes[s.axis].extent.max()) : 1;
    total += times * iterations(kernel, s.body);
  }
  return total;
}
}  // namespace

TEST_CASE("plain loops agree with the reference") {
  for (const auto& [name, c] : representative_cases()) {
    INFO(name);
    CHECK(difference(c, scalar_like(), "", false) == "");
  }
}

TEST_CASE("templates agree with the reference on every kind of device") {
  const std::pair<const char*, Capabilities> devices[] = {
      {"scalar", scalar_like()}, {"cpu", cpu_like()},          {"dots", dots_like()},
      {"gpu", gpu_like()},       {"both", everything()},       {"warps", warps_like()},
      {"waves", waves_like()},   {"software", software_like()}};
  for (const auto& [device, capabilities] : devices) {
    for (const auto& [name, c] : representative_cases()) {
      INFO(name << " on " << device);
      CHECK(difference(c, capabilities, "", true) == "");
    }
  }
}

TEST_CASE("whatever templates decide, the result is the same") {
  for (const auto& [device, capabilities] : {std::pair("cpu", cpu_like()), {"gpu", gpu_like()}}) {
    for (const auto& [name, c] : representative_cases()) {
      Builder builder;
      const Kernel tree = build_kernel(parse_graph(c.graph, builder), c.alias, c.sections);
      const std::string rule = list_text(choose_transforms(tree, capabilities));
      for (uint32_t seed = 1; seed <= 4; ++seed) {
        std::mt19937 random(seed);
        const auto any = [&](std::string_view, std::span<const int64_t> options) {
          return std::uniform_int_distribution<size_t>(0, options.size() - 1)(random);
        };
        const std::string list = list_text(choose_transforms(tree, capabilities, any));
        INFO(name << " on " << device << ": " << list);
        if (list != rule) CHECK(difference(c, capabilities, list, false) == "");
      }
    }
  }
}

TEST_CASE("any legal transform list gives the same result") {
  int ran = 0, refused = 0;
  for (const auto& [name, c] : representative_cases()) {
    Builder builder;
    const Kernel kernel = build_kernel(parse_graph(c.graph, builder), c.alias, c.sections);
    for (uint32_t seed = 1; seed <= 16; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      const RandomTransformOptions options{.vectors = seed % 2 != 0, .threads = seed % 4 < 2};
      const auto [transformed, list] = random_transforms(kernel, below, options);
      const std::string text = print(transformed, list);
      INFO(name << " seed " << seed << ": " << text);
      CHECK(parse_transforms(text) == written(transformed, list));
      if (iterations(transformed, transformed.body) > 300'000) continue;
      try {
        const std::string wrong = difference(c, everything(), text, false, seed);
        CHECK(wrong == "");
        ++ran;
      } catch (const Error& e) {
        // Over a limit of the device is a fair answer; nothing else is.
        INFO(e.what());
        CHECK(e.kind() == ErrorKind::kUnsupported);
        ++refused;
      }
    }
  }
  INFO(ran << " ran, " << refused << " over a limit");
  CHECK(ran > 10 * refused);
}

TEST_CASE("a tile of fused loops that were padded is filled past points that are not real") {
  const Case c{"graph g(%x: i32[7, 33]) {\n  %y = add %x, %x : i32[7, 33]\n  return %y\n}", {}, {}};
  for (const char* list : {"pad a1 5; fuse a0 a1; split a0_a1 8; stage b0 at a0_a1.o",
                           "pad a1 5; fuse a0 a1; split a0_a1 9; stage b0 at a0_a1.o pad 2",
                           "pad a0 4; pad a1 5; fuse a0 a1; split a0_a1 8; split a0_a1.i 3; "
                           "stage b0 at a0_a1.i.o",
                           "pad a1 5; fuse a0 a1; split a0_a1 6; bind a0_a1.i block.x; "
                           "stage b0 at a0_a1.o"}) {
    INFO(list);
    CHECK(difference(c, everything(), list, false) == "");
  }
}

TEST_CASE("a copy of a tile that is padded stays inside of its source") {
  const auto& cases = representative_cases();
  const auto c = std::ranges::find(cases, "few_rows_by_columns_along_the_sum",
                                   [](const auto& item) { return item.first; });
  REQUIRE(c != cases.end());
  for (const char* list :
       {"reorder a2 a0; split a0 8; split a1 16; split r0 3; stage b0 at a2; bind a2 grid.x; bind "
        "a0.o block.y; split r0.o 4; pad b0.c0 2",
        "reorder a2 a0; split a0 8; split a1 16; split r0 3; stage b0 at a2",
        "reorder a2 a0; split a0 8; split a1 16; split r0 3; stage b0 at a2; pad b0.c0 2",
        "reorder a2 a0; split a0 8; split a1 16; split r0 3; stage b0 at a2; split r0.o 4; pad "
        "b0.c0 2",
        "reorder a2 a0; split a0 8; split a1 16; split r0 3; stage b0 at a2; split r0.o 4"}) {
    INFO(list);
    CHECK(difference(c->second, everything(), list, false) == "");
  }
}
