// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <string>

#include "core/support/log.hpp"
#include "core/support/parse_json.hpp"
#include "core/support/printable.hpp"

namespace tenon {
namespace {

TEST_CASE("errors carry their kind and message") {
  try {
    fail(ErrorKind::kOutOfMemory, "[pool] expected {} bytes, got {}", 8, 4);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kOutOfMemory);
    CHECK(std::string(error.what()) == "[pool] expected 8 bytes, got 4");
  }
}

TEST_CASE("a message that quotes input is printable and whole") {
  try {
    fail(ErrorKind::kInvalid, "[x] got '{}'", std::string_view("a\0b\x1b[2J\xc3", 8));
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "[x] got 'a\u2400b\u241b[2J\ufffd'");
  }
  CHECK(shortened_text("abc", 3) == "abc");
  CHECK(shortened_text("abcd", 3) == "abc...");
  CHECK(shortened_text("ab\u00e9", 3) == "ab...");
  CHECK(shortened_text("\U0001f600x", 3) == "...");
  CHECK(shortened_text("\x80\x80\x80\x80\x80", 4) == "\x80\x80\x80\x80...");
}

TEST_CASE("JSON is nested no deeper than what reads it can bear") {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  CHECK_NOTHROW(check_json_depth(nested(kMostJsonDepth)));
  CHECK_THROWS_WITH(check_json_depth(nested(kMostJsonDepth + 1)),
                    "[json] byte 64: expected arrays and objects at most 64 deep, got more");
  CHECK_THROWS_AS(check_json_depth(std::string(1000, '{')), Error);
  CHECK_NOTHROW(
      check_json_depth("\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\""));
  CHECK_NOTHROW(check_json_depth("[][][][]]]]]"));
}

TEST_CASE("requirements are the caller's mistakes, assertions are ours") {
  const auto kind_of = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kUnsupported;
  };
  CHECK(kind_of([] { TN_REQUIRE(1 > 2, "[x] expected more, got {}", 1); }) == ErrorKind::kInvalid);
  CHECK(kind_of([] { TN_ASSERT(1 > 2); }) == ErrorKind::kInternal);
  CHECK(kind_of([] { TN_REQUIRE(true, "no"); }) == ErrorKind::kUnsupported);
}

TEST_CASE("log channels are chosen by name") {
  set_log_channels("loader,cache");
  CHECK(log_enabled("loader"));
  CHECK(log_enabled("cache"));
  CHECK_FALSE(log_enabled("schedule"));
  set_log_channels("all");
  CHECK(log_enabled("schedule"));
  set_log_channels("");
  CHECK_FALSE(log_enabled("loader"));
}

}  // namespace
}  // namespace tenon
