// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of functions.def: each a free function and a member, in the docs, and called by a test.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <regex>
#include <string>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/docs/check_table.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

TEST_CASE("a row is a free function and a member, which are one") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({{0.25, 0.5}, {0.75, 1}}, context);
    int rows = 0;
    const auto check = [&](const char* name, const Tensor& free, const Tensor& member) {
      INFO(name);
      if (name != std::string("copy")) CHECK(node_of(free) == node_of(member));
      CHECK(free.shape() == member.shape());
      ++rows;
    };
    // Those that want more than tensors are made by the same macro.
#define TENON_FUNCTION(name, parameters, arguments, meaning) \
  [&](const auto& y) {                                       \
    if constexpr (requires { tenon::name(y); })              \
      check(#name, tenon::name(y), y.name());                \
    else if constexpr (requires { tenon::name(y, y); })      \
      check(#name, tenon::name(y, y), y.name(y));            \
  }(x);
#include "tenon/functions.def"
#undef TENON_FUNCTION
    CHECK(rows > 100);
  });
}

TEST_CASE("a row is in docs/tensor.md and in a test") {
  const std::string root = TENON_SOURCE_DIR;
  const std::string docs = read_file(root + "/docs/tensor.md");
  std::string tests;
  for (const char* folder : {"/tests/tensor", "/tests/tensor/goldens"})
    for (const auto& entry : std::filesystem::directory_iterator(root + folder))
      if (entry.path().extension() == ".cpp" && entry.path().filename() != "functions.cpp")
        tests += read_file(entry.path());
  std::string others = "| function | meaning |\n|---|---|\n", before;
#define TENON_FUNCTION(name, parameters, arguments, meaning)                                     \
  {                                                                                              \
    INFO(#name);                                                                                 \
    CHECK(std::regex_search(tests, std::regex("\\b" #name "[()]")));                             \
    if (docs.find("| `" #name "` | ") == std::string::npos ||                                    \
        docs.find("| `" #name "` | ") > docs.find("<!-- begin others -->")) {                    \
      if (before != #name)                                                                       \
        others +=                                                                                \
            "| `" #name "` | " + std::regex_replace(meaning, std::regex("\\|"), "\\|") + " |\n"; \
      before = #name;                                                                            \
    }                                                                                            \
  }
#include "tenon/functions.def"
#undef TENON_FUNCTION
  check_table("tensor.md", "others", others);
}

}  // namespace
}  // namespace tenon::test
