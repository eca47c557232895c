// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop trees of representative graphs, against tests/golden/kernel. To accept a change, copy what
// the failing test prints.
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "core/ir/text/text.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/support/error.hpp"

using namespace tenon;

namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(TENON_SOURCE_DIR) + "/tests/golden/kernel/" + name);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A golden file holds the graph, a line "---", and the tree.
void check_golden(const std::string& name) {
  const std::string text = read(name);
  const size_t cut = text.find("---\n");
  REQUIRE(cut != std::string::npos);
  Builder builder;
  const Kernel kernel = build_kernel(parse_graph(text.substr(0, cut), builder, name));
  CHECK(print(kernel) == text.substr(cut + 4));
}

}  // namespace

TEST_CASE("softmax is one nest with two reductions a row") { check_golden("softmax.txt"); }
TEST_CASE("reductions of one row share their loop") { check_golden("moments.txt"); }
TEST_CASE("a matrix product with its epilogue") { check_golden("matmul_bias.txt"); }
TEST_CASE("views become indices and masks") { check_golden("views.txt"); }
TEST_CASE("a gather's index is a symbol that the data defines") { check_golden("take.txt"); }
TEST_CASE("a position that wraps in its dtype is no position") { check_golden("take_wrapped.txt"); }

TEST_CASE("what a pad fills is what the load gives there, through casts that keep it") {
  const auto tree = [](const std::string& from, const std::string& to, const std::string& fill) {
    Builder builder;
    return print(build_kernel(parse_graph("graph g(%x: " + from + "[4]) { %c = cast %x : " + to +
                                              "[4] %y = pad %c, pairs=[(1, 1)], fill=" + fill +
                                              " return %y }",
                                          builder)));
  };
  const auto selects = [&](const std::string& from, const std::string& to,
                           const std::string& fill) {
    return tree(from, to, fill).find("where(") != std::string::npos;
  };
  CHECK(!selects("f16", "f32", "0.0"));
  CHECK(!selects("f16", "f32", "-2.0"));
  CHECK(selects("f16", "f32", "0.1"));  // not one of f16
  CHECK(!selects("f16", "f32", "-0.0"));
  CHECK(!selects("f32", "f16", "0.5"));
  CHECK(selects("u8", "f32", "-1.0"));
  CHECK(!selects("f32", "i32", "3"));
}

TEST_CASE("what a kernel may not hold is refused") {
  Builder builder;
  const Graph copy = parse_graph(R"(graph g(%x: f32[4]) {
    %y = copy %x, device="cpu:0" : f32[4]
    return %y })",
                                 builder);
  CHECK_THROWS_AS(build_kernel(copy), Error);
  const Graph store = parse_graph(R"(graph g(%x: f32[4], %i: i32[2], %v: f32[2]) {
    %y = store %x, %i, %v, axis=0 : f32[4]
    return %y })",
                                  builder);
  CHECK_THROWS_AS(build_kernel(store), Error);
  CHECK_NOTHROW(build_kernel(store, {0}));
}

TEST_CASE("an axis never takes the name of a symbol") {
  Builder builder;
  const Kernel kernel = build_kernel(parse_graph(R"(graph g(%x: f32[a0]) where 0 <= a0 <= 9 {
    %y = add %x, %x : f32[a0]
    return %y })",
                                                 builder));
  REQUIRE(kernel.axes.size() == 1);
  CHECK(kernel.axes[0].name == "a1");
}
