// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form round trips exactly, and its errors have a place.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "sdk/program/text.hpp"
#include "sdk/program/verify.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

std::string text_error(std::string_view text) {
  std::string error;
  const Program program = parse_program(text, error);
  CHECK(program.empty() == !error.empty());
  return error;
}

std::string p_body_error(std::string_view body) {
  return text_error("program p(%x: global f32 read, %n: i32 in [0, 9]) workgroup 1 1 1 {\n" +
                    std::string(body) + "\n}\n");
}

}  // namespace

TEST_CASE("canonical text prints as it was written, and the bytes agree") {
  for (std::string_view text : samples::kAll) {
    std::string error;
    const Program program = parse_program(text, error);
    REQUIRE(error == "");
    const std::string printed = print_program(program.view());
    CHECK(printed == text);
    const Program again = parse_program(printed, error);
    REQUIRE(again.size() == program.size());
    CHECK(std::memcmp(again.get(), program.get(), program.size()) == 0);
  }
}

TEST_CASE("names, comments and blank lines are free") {
  std::string error;
  const Program program = parse_program(R"(
# a comment
program p(
  %x: global f32 read,   # in
  %y: global f32 write,
) workgroup 1 1 1 {

  %zero = const 0 : i32
  %v = load %x, %zero : f32 # here
  store %y, %zero, %v
}
)",
                                        error);
  REQUIRE(error == "");
  CHECK(print_program(program.view()) ==
        "program p(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {\n"
        "  %2 = const 0 : i32\n  %3 = load %x, %2 : f32\n  store %y, %2, %3\n}\n");
}

TEST_CASE("errors say line, column and what was expected") {
  CHECK(text_error("") == "line 1, column 1: expected \"program\", got the end");
  CHECK(text_error("program 7") == "line 1, column 9: expected a C identifier, got \"7\"");
  CHECK(p_body_error("  %1 = frob %x : f32") ==
        "line 2, column 8: expected an op with a value, got \"frob\"");
  CHECK(p_body_error("  %1 = add %7, %7 : f32") ==
        "line 2, column 12: expected a value defined above, got \"%7\"");
  CHECK(p_body_error("  %1 = const 0 : i32\n  %1 = const 0 : i32") ==
        "line 3, column 3: expected a name not used before, got \"%1\"");
  CHECK(p_body_error("  %1 = const 256 : u8") ==
        "line 2, column 14: expected a value of u8, got \"256\"");
  CHECK(p_body_error("  %1 = const 0 : q8").starts_with("line 2, column 18: expected a type"));
  CHECK(p_body_error("  %1 = const 0 : f32x1").starts_with("line 2, column 18: expected a type"));
  CHECK(p_body_error("  %1 = const 0 : i32 ; 7") ==
        "line 2, column 22: expected a letter, a digit or one of (){}[],:=%#, got \";\"");
  CHECK(p_body_error("  if %n {\n  }").starts_with("line 2, column 3: op 2 if: expected boolx1"));
  CHECK(p_body_error("  %1 = add %x, %x : f32")
            .starts_with("line 2, column 3: op 2 add: expected values as operands"));
  CHECK(text_error("program p() workgroup 0 1 1 {\n}\n")
            .starts_with("line 1, column 9: header: expected a workgroup of at least 1"));
}

TEST_CASE("deep nesting is refused, not followed") {
  std::string text = "program p() workgroup 1 1 1 {\n  %c = const true : bool\n";
  for (int i = 0; i < 100000; ++i) text += "if %c {\n";
  CHECK(text_error(text + "}\n").find("end") != std::string::npos);
  for (int i = 0; i < 100000; ++i) text += "}\n";
  CHECK(text_error(text + "}\n").find("nested at most 64 deep") != std::string::npos);
}
