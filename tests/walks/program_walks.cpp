// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs and expressions with 2^40 paths.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "conformance/abi/programs/twin.hpp"
#include "conformance/cases/random.hpp"
#include "core/expr/expr.hpp"
#include "core/support/error.hpp"
#include "sdk/program/text.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/render/c_dialect.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/wgsl_dialect.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int kLevels = 40;

/// Index and value as sums of themselves, a store that both decide.
sdk::Program doubled() {
  sdk::ProgramBuilder b("doubled");
  const auto x = b.buffer("x", TN_DTYPE_I32, TN_ACCESS_READ, 64);
  const auto y = b.buffer("y", TN_DTYPE_I32, TN_ACCESS_WRITE, 64);
  auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto mask = b.constant(TN_DTYPE_I32, 63);
  const auto at = i;
  for (int k = 0; k < kLevels; ++k) i = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {i, i});
  i = b.op(TN_OP_AND, TN_DTYPE_I32, 1, {b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {i, at}), mask});
  auto v = b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {x, i});
  for (int k = 0; k < kLevels; ++k)
    v = b.op(TN_OP_XOR, TN_DTYPE_I32, 1, {b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {v, at}), v});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, at, v});
  return b.finish();
}

}  // namespace

TEST_CASE("programs with 2^40 paths are verified, written, read, printed and changed") {
  const sdk::Program program = doubled();
  REQUIRE(sdk::verify_program(program.get(), program.size()) == "");
  const std::string text = sdk::print_program(program.view());
  CHECK(text.size() < 20000);
  std::string error;
  CHECK(sdk::print_program(sdk::parse_program(text, error).view()) == text);
  CHECK(error.empty());
  CHECK(sdk::print_source(program.view(), sdk::c_dialect()).size() < 100000);
  CHECK(sdk::print_wgsl(program.view()).size() < 100000);
  conformance::Random random(1);
  for (int k = 0; k < 20; ++k) conformance::abi::programs::draw_twin(program, random);
}

TEST_CASE("an expression with 2^40 paths is refused, below the bound all is quick") {
  const Expr n = Expr::symbol("n", 1, 1 << 20), m = Expr::symbol("m", 1, 1 << 20);
  const auto next = [&](const Expr& e, int k) {
    return min(floor_div(e * 3 + m, 2), mod(e, 77 + k) + n);
  };
  Expr e = n, largest = n;
  std::string told;
  try {
    for (int k = 0; k < kLevels; ++k) e = next(largest = e, k);
  } catch (const Error& error) {
    told = error.what();
  }
  CHECK_THAT(told, ContainsSubstring("[expr] expected at most 16384 operations, each counted as "
                                     "often as it is used, got"));
  CHECK(largest.size() > 4000);
  CHECK(to_string(largest).size() < 1000000);
  CHECK(largest.substitute({{"n", m}, {"m", n}}).size() > 4000);
  CHECK(largest.substitute({{"n", Expr(5)}, {"m", Expr(7)}}).is_const());
  CHECK(largest.evaluate({{"n", 5}, {"m", 7}}) ==
        largest.substitute({{"n", Expr(5)}, {"m", Expr(7)}}).value());
  // The same once more, node by node: compared without a common pointer.
  Expr again = Expr::symbol("n", 1, 1 << 20);
  for (int k = 0; again.size() < largest.size(); ++k) again = next(again, k);
  CHECK(again == largest);
  CHECK_FALSE(less(again, largest).is_const(1));
  std::map<std::string, Expr> symbols;
  largest.collect_symbols(symbols);
  CHECK(symbols.size() == 2);
}
