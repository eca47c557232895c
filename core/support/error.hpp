// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors: exceptions inside the core, status codes at the ABI.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace tenon {

/// What went wrong, in the terms of a program's exit codes and of a caller's choices.
enum class ErrorKind {
  kInvalid,      ///< the caller's mistake: shape, dtype, text, option, file content
  kUnsupported,  ///< a legal request that no chosen device can serve
  kEnvironment,  ///< missing plugin, driver, file, permission
  kOutOfMemory,
  kDeviceLost,
  kInternal,  ///< a bug in Tenon or in a plugin
};

/// Thrown by every public function. The message reads "[op] expected ..., got ...".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace tenon

/// The caller's mistake: throws ErrorKind::kInvalid with a formatted message.
#define TN_REQUIRE(condition, ...)                              \
  do {                                                          \
    if (!(condition)) [[unlikely]]                              \
      ::tenon::fail(::tenon::ErrorKind::kInvalid, __VA_ARGS__); \
  } while (false)

/// Our mistake: throws ErrorKind::kInternal.
#define TN_ASSERT(condition)                                     \
  do {                                                           \
    if (!(condition)) [[unlikely]]                               \
      ::tenon::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)
