// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loads fetch the next row, one a line: those of the second loop over a row, and of rows that
// lie apart.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "plugins/cpu/prefetch_rows.hpp"
#include "sdk/program/text.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

/// Rows, which `passes` loops go over one after another.
struct Rows {
  int passes = 2;
  int64_t length = 256;  ///< of a row, in elements
  int64_t row = 256;     ///< from one to the next
  int64_t step = 16;     ///< of the loop over a row
  bool loops = true;     ///< over rows; else the grid is
  bool masked = false;   ///< the loads stand in an if
};

std::string text_of(const Rows& of) {
  std::string out =
      "program rows(%x: global f32[65536] read, %y: global f32[65536] write) workgroup 1 1 1 {\n"
      "  %zero = const 0 : i32\n  %one = const 1 : i32\n  %eight = const 8 : i32\n"
      "  %four = const 4 : i32\n  %count = const " +
      std::to_string(of.length) +
      " : i32\n  %yes = const true : bool\n"
      "  %none = const 0.0 : f32x8\n  %grid = index grid.x : i32\n  %step = const " +
      std::to_string(of.step) + " : i32\n  %row = const " + std::to_string(of.row) + " : i32\n";
  if (of.loops) out += "  %r = loop %zero, %four, %one : i32 {\n";
  out += std::string("  %from = mul ") + (of.loops ? "%r" : "%grid") + ", %row no_wrap : i32\n";
  for (int p = 0; p < of.passes; ++p) {
    const std::string n = std::to_string(p);
    out += "  %l" + n + " = loop %zero, %count, %step : i32 {\n";
    if (of.masked) out += "  if %yes {\n";
    out += "  %a" + n + " = add %from, %l" + n + " no_wrap : i32\n  %b" + n + " = add %a" + n +
           ", %eight no_wrap : i32\n  %u" + n + " = load %x, %a" + n + " : f32x8\n  %v" + n +
           " = load %x, %b" + n + " : f32x8\n  %s" + n + " = add %u" + n + ", %v" + n +
           " : f32x8\n  store %y, %a" + n + ", %s" + n + "\n";
    if (of.masked) out += "  }\n";
    out += "  }\n";
  }
  if (of.loops) out += "  }\n";
  return out + "}\n";
}

/// Bytes ahead, by the number of the load.
std::vector<uint64_t> ahead_of(const Rows& of) {
  std::string error;
  const sdk::Program program = sdk::parse_program(text_of(of), error);
  INFO(text_of(of));
  REQUIRE(error == "");
  const sdk::ProgramView view(program.get());
  const auto ahead = cpu::prefetch_rows(view);
  std::vector<uint64_t> out;
  for (uint32_t i = 0; i < view.op_count(); ++i) {
    if (view.op(i).op != TN_OP_TAKE) continue;
    const auto at = ahead.find(i);
    out.push_back(at == ahead.end() ? 0 : at->second);
  }
  return out;
}

using Ahead = std::vector<uint64_t>;

}  // namespace

TEST_CASE("the second loop over a row fetches the next one") {
  CHECK(ahead_of({}) == Ahead{0, 0, 1024, 0});
  CHECK(ahead_of({.passes = 3}) == Ahead{0, 0, 1024, 0, 0, 0});
  CHECK(ahead_of({.loops = false}) == Ahead{0, 0, 1024, 0});
  CHECK(ahead_of({.length = 128, .row = 8192}) == Ahead{0, 0, 32768, 0});
}

TEST_CASE("a loop over rows that lie apart fetches the next one") {
  CHECK(ahead_of({.passes = 1, .row = 257}) == Ahead{1028, 0});
  CHECK(ahead_of({.passes = 1, .row = 65536}) == Ahead{262144, 0});
  CHECK(ahead_of({.passes = 2, .row = 65536}) == Ahead{262144, 0, 0, 0});
}

TEST_CASE("nothing is fetched that the processor does alone, that is no row, or does not fit") {
  const Ahead nothing{0, 0, 0, 0};
  CHECK(ahead_of({.passes = 1}) == Ahead{0, 0});
  CHECK(ahead_of({.row = 32}) == nothing);
  CHECK(ahead_of({.length = 128, .row = 8193}) == nothing);
  CHECK(ahead_of({.passes = 1, .length = 128, .row = 65536}) == Ahead{0, 0});
  CHECK(ahead_of({.passes = 1, .length = 8448, .row = 65536}) == Ahead{0, 0});
  CHECK(ahead_of({.step = 128}) == nothing);
  CHECK(ahead_of({.masked = true}) == nothing);
}

}  // namespace tenon::cpu_test
