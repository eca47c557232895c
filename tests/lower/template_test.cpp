// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What templates choose for kinds of devices, against tests/golden/kernel. To
// accept a change, copy what the failing test prints.
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// A golden file holds the graph, a line "---", and the transforms with their tree, which
/// TENON_UPDATE=1 writes anew.
void check_recipe(const std::string& name, const Capabilities& capabilities,
                  const std::vector<int>& alias = {}) {
  const std::string path = std::string(TENON_SOURCE_DIR) + "/tests/golden/kernel/" + name;
  std::ifstream file(path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const size_t cut = text.str().find("---\n");
  REQUIRE(cut != std::string::npos);
  Builder builder;
  const Graph graph = parse_graph(text.str().substr(0, cut), builder, name);
  const std::string chosen = print(lower(graph, capabilities, "", true, alias).chosen);
  if (std::getenv("TENON_UPDATE"))
    std::ofstream(path) << text.str().substr(0, cut + 4) << chosen;
  else
    CHECK(chosen == text.str().substr(cut + 4));
}

}  // namespace

TEST_CASE("elements: short vectors side by side") {
  check_recipe("elements.warps.txt", warps_like());
}
TEST_CASE("rows: a subgroup each, its elements in registers") {
  check_recipe("rows.warps.txt", warps_like());
}
TEST_CASE("threads that are lanes: a run, a row or columns side by side each, no barriers") {
  check_recipe("elements.software.txt", software_like());
  check_recipe("rows.software.txt", software_like());
  check_recipe("columns.software.txt", software_like());
}
TEST_CASE("columns: threads along them and down the rows") {
  check_recipe("columns.warps.txt", warps_like());
}
TEST_CASE("products: matrix atoms, or tiles in registers") {
  check_recipe("product.warps.txt", warps_like());
  check_recipe("product.software.txt", software_like());
  check_recipe("windows.software.txt", software_like());
}
TEST_CASE("narrow products: panels with neighbours side by side, edges added one by one") {
  check_recipe("product.dots.txt", dots_like());
  check_recipe("product_signed.dots.txt", dots_like());
}
TEST_CASE("scatters: a thread for each place beside what is written in order") {
  check_recipe("scatter.warps.txt", warps_like(), {0});
}
TEST_CASE("scatters on processors: parts of a row in lanes, each over the whole index") {
  check_recipe("scatter.cpu.txt", cpu_like(), {0});
  check_recipe("scatter_places.cpu.txt", cpu_like(), {0});
  // Places along the rows themselves: no scatter of rows, and nothing is changed on the way to
  // that.
  CHECK(difference({R"(graph g(%x: i32[3, 4, 8], %i: i32[3, 4, 21], %v: i32[3, 4, 21]) {
          %t = store.add %x, %i, %v, axis=2 : i32[3, 4, 8]
          return %t })",
                    {},
                    {0},
                    0,
                    12},
                   cpu_like(), "", true) == "");
}
TEST_CASE("the maximum of a long row and the sums that follow it: one pass, block by block") {
  check_recipe("long_rows.cpu.txt", cpu_like());
}
TEST_CASE("windows: the lines that they read are staged") {
  check_recipe("windows.cpu.txt", cpu_like());
  check_recipe("windows_weights.cpu.txt", cpu_like());
  check_recipe("windows_taps.cpu.txt", cpu_like());
  check_recipe("windows_each.cpu.txt", cpu_like());
}
