// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "core/support/log.hpp"

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
