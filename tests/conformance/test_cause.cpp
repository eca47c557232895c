// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures of one cause are one, and of several causes several.
#include <catch2/catch_test_macros.hpp>

#include "conformance/report/cause.hpp"
#include "tests/conformance/sample_report.hpp"

using namespace tenon::conformance;
using namespace tenon::conformance::report;

namespace {

Failure failure(const char* op, const char* dtype, const char* kind, const char* text,
                const char* name = "1:1") {
  Failure f;
  f.name = name;
  f.kind = kind;
  f.op = op;
  f.dtype = dtype;
  f.layout = "contiguous";
  f.text = text;
  return f;
}

bool are_one(const Failure& a, const Failure& b) { return cause_of(a) == cause_of(b); }

}  // namespace

TEST_CASE("a fault of an op is one in all dtypes") {
  const Failure f32 = failure("add", "f32", "mismatch", "output 0 [1]: expected 1, got 2");
  CHECK(are_one(f32, failure("add", "i8", "mismatch", "output 0 [7]: expected 3, got 9")));
  CHECK(!are_one(f32, failure("sub", "f32", "mismatch", "output 0 [1]: expected 1, got 2")));
  CHECK(!are_one(f32, failure("add", "f32", "guard", "byte 0 after the 4 bytes of y")));
  CHECK(are_one(failure("cast.i8", "f32", "mismatch", "a"),
                failure("cast.u64", "f64", "mismatch", "b")));
  CHECK(!are_one(failure("reduce.add", "f32", "mismatch", "a"),
                 failure("reduce.max", "f32", "mismatch", "b")));
}

TEST_CASE("a refusal is one whatever is compiled") {
  const char* said =
      "compile: expected TN_OK, got TN_ERROR_INTERNAL (no conversion of f32x4 in op 7)";
  CHECK(
      are_one(failure("add", "f32", "error", said),
              failure("exp2", "f16", "error",
                      "compile: expected TN_OK, got TN_ERROR_INTERNAL (no conversion of i8x2 in op "
                      "93)")));
  CHECK(!are_one(failure("add", "f32", "error", said),
                 failure("add", "f32", "error", "submit: expected TN_OK, got TN_ERROR_INTERNAL")));
}

TEST_CASE("graphs are one where they were shrunk to the same ops") {
  const auto graph = [](const char* text, const char* name) {
    return failure("graph", "f32", "mismatch", text, name);
  };
  CHECK(are_one(graph("x; shrunk to add f32, mul f32", "1:1"),
                graph("y; shrunk to add i8, mul i8", "1:2")));
  CHECK(!are_one(graph("x; shrunk to add f32", "1:1"), graph("x; shrunk to sub f32", "1:2")));
  CHECK(!are_one(graph("x", "1:1"), graph("x", "1:2")));
}

TEST_CASE("causes are counted with all of their cases") {
  Report report;
  report.failures = {failure("add", "f32", "mismatch", "a"), failure("sub", "f32", "mismatch", "b"),
                     failure("add", "f16", "mismatch", "c")};
  report.failures[0].same = 4;
  report.failures[2].same = 1;
  const std::vector<Cause> causes = causes_of(report);
  REQUIRE(causes.size() == 2);
  CHECK(causes[0].failures.size() == 2);
  CHECK(causes[0].cases == 7);
  CHECK(causes[1].cases == 1);
}
