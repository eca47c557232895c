// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every public function throws.
#pragma once

#include <stdexcept>
#include <string>

#include "tenon/export.hpp"

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
class TENON_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace tenon
