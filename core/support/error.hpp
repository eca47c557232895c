// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the core throws and asserts.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "tenon/error.hpp"

namespace tenon {

/// Throws an Error with `message` as printable text (printable.hpp): what quotes input is whole,
/// too.
[[noreturn]] void throw_error(ErrorKind kind, std::string_view message);

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw_error(kind, fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace tenon

/// Checks the caller: throws ErrorKind::kInvalid with a formatted message.
#define TN_REQUIRE(condition, ...)                              \
  do {                                                          \
    if (!(condition)) [[unlikely]]                              \
      ::tenon::fail(::tenon::ErrorKind::kInvalid, __VA_ARGS__); \
  } while (false)

/// Checks the core itself: throws ErrorKind::kInternal.
#define TN_ASSERT(condition)                                     \
  do {                                                           \
    if (!(condition)) [[unlikely]]                               \
      ::tenon::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)
