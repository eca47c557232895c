// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds the generated tables of docs/ against the code they come from.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>

#include "core/plugin/environment.hpp"
#include "tests/docs/check_table.hpp"

namespace {

using tenon::test::check_table;

struct OpRow {
  int code, arity;
  std::string text, level, meaning;
};
const OpRow kOps[] = {
#define TN_OP_ROW(name, code, text, arity, kind, types, level, flags, meaning, ...) \
  {code, arity, text, #level, meaning},
#include "tenon/ops.def"
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return std::tolower(c); });
  return text;
}

std::string operands(const OpRow& op) { return op.arity < 0 ? "n" : std::to_string(op.arity); }

std::string principal_table() {
  std::string table = "| code | op | operands | level | meaning |\n|---|---|---|---|---|\n";
  for (const OpRow& op : kOps)
    if (op.code <= 27)
      table += fmt::format("| {} | `{}` | {} | {} | {} |\n", op.code, op.text, operands(op),
                           lower(op.level), op.meaning);
  return table;
}

std::string other_table() {
  std::string table = "| code | op | operands | level | meaning |\n|---|---|---|---|---|\n";
  for (const OpRow& op : kOps)
    if (op.code > 27)
      table += fmt::format("| {} | `{}` | {} | {} | {} |\n", op.code, op.text, operands(op),
                           lower(op.level), op.meaning);
  return table;
}

std::string dtype_table() {
  std::string table = "| code | dtype | bytes | claim | meaning |\n|---|---|---|---|---|\n";
#define TN_DTYPE(name, code, text, bytes, kind, claim, accumulator, mantissa, bias, most, over, \
                 nan, c, cuda, glsl, wgsl, meaning, ...)                                        \
  table += fmt::format("| {} | `{}` | {} | {} | {} |\n", code, text, bytes, lower(#claim), meaning);
#include "tenon/dtypes.def"
  return table;
}

}  // namespace

TEST_CASE("docs/ir.md lists the operators as ops.def has them") {
  check_table("ir.md", "principal operators", principal_table());
  check_table("ir.md", "other operators", other_table());
}

TEST_CASE("docs/ir.md lists the dtypes as dtypes.def has them") {
  check_table("ir.md", "dtypes", dtype_table());
}

TEST_CASE("docs/environment.md lists the variables as the code reads them") {
  check_table("environment.md", "variables", tenon::environment_markdown());
}
