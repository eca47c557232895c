// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds the generated tables of docs/ against the code they come from.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/ir/op.hpp"
#include "core/plugin/environment.hpp"

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The table stands between two comments: <!-- begin NAME --> and <!-- end NAME -->.
void check_table(const std::string& document, const std::string& name, const std::string& table) {
  const std::string path = std::string(TENON_SOURCE_DIR) + "/docs/" + document;
  const std::string begin = fmt::format("<!-- begin {} -->\n", name);
  const std::string end = fmt::format("<!-- end {} -->\n", name);
  std::string text = read(path);
  const size_t from = text.find(begin);
  const size_t to = text.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const size_t start = from + begin.size();
  if (std::getenv("TENON_UPDATE") != nullptr) {
    std::ofstream(path) << text.replace(start, to - start, table);
  } else {
    CHECK(text.substr(start, to - start) == table);
  }
}

std::string level_name(tenon::OpLevel level) {
  switch (level) {
    case tenon::OpLevel::GRAPH:
      return "graph";
    case tenon::OpLevel::PROGRAM:
      return "program";
    case tenon::OpLevel::BOTH:
      return "both";
  }
  return "";
}

std::string op_table(bool principal) {
  std::string table = "| code | op | operands | level | meaning |\n|---|---|---|---|---|\n";
  for (const tenon::OpInfo& info : tenon::all_ops()) {
    if ((static_cast<int>(info.op) <= 27) != principal) continue;
    table += fmt::format("| {} | `{}` | {} | {} | {} |\n", static_cast<int>(info.op), info.text,
                         info.arity < 0 ? "n" : std::to_string(info.arity), level_name(info.level),
                         info.meaning);
  }
  return table;
}

}  // namespace

TEST_CASE("docs/ir.md lists the operators as ops.def has them") {
  check_table("ir.md", "principal operators", op_table(true));
  check_table("ir.md", "other operators", op_table(false));
}

TEST_CASE("docs/environment.md lists the variables as the code reads them") {
  check_table("environment.md", "variables", tenon::environment_markdown());
}
