// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors and growing structs at the ABI boundary: converts exceptions to statuses, and reads and
// writes structs of any struct_size safely.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sdk/support/float_state.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// `throw Failure(TN_ERROR_NOT_FOUND, "libcuda.so.1 not found")` anywhere below a table function.
class Failure : public std::runtime_error {
 public:
  Failure(tn_status code, const std::string& message, int32_t vendor_code = 0)
      : std::runtime_error(message), code_(code), vendor_code_(vendor_code) {}
  tn_status code() const { return code_; }
  int32_t vendor_code() const { return vendor_code_; }

 private:
  tn_status code_;
  int32_t vendor_code_;
};

/// For mistakes of the caller: throws a Failure of TN_ERROR_INVALID_ARGUMENT.
[[noreturn]] inline void refuse(const std::string& message) {
  throw Failure(TN_ERROR_INVALID_ARGUMENT, message);
}
inline void require(bool condition, const char* message) {
  if (!condition) refuse(message);
}

/// Fills the caller's error up to its struct_size, and returns `code`.
int32_t write_error(tn_error* error, int32_t code, const std::string& message,
                    int32_t vendor_code = 0) noexcept;
/// The status of the current exception; call inside catch (...). std::bad_alloc is
/// TN_ERROR_OUT_OF_MEMORY.
int32_t report_exception(tn_error* error) noexcept;

/// Runs `body` with a FloatState. Exceptions become the status.
template <class Body>
int32_t guarded(tn_error* error, Body&& body) noexcept {
  const FloatState floats;
  try {
    body();
    return TN_OK;
  } catch (...) {
    return report_exception(error);
  }
}

/// A copy of `from` up to its struct_size, with zeros after it.
template <class Struct>
Struct read_struct(const Struct* from) {
  Struct out = {};
  std::memcpy(&out, from, std::min<size_t>(from->struct_size, sizeof(Struct)));
  return out;
}

/// One field, or zero if it is beyond the struct_size of the writer.
template <class Struct, class Field>
Field field_or_zero(const Struct* from, Field Struct::*member) {
  const auto* field = reinterpret_cast<const char*>(&(from->*member));
  const size_t end = size_t(field - reinterpret_cast<const char*>(from)) + sizeof(Field);
  return end <= from->struct_size ? from->*member : Field{};
}

/// Copies everything after the header into the caller's struct, up to its struct_size.
template <class Struct>
void write_struct(Struct* to, const Struct& from) {
  constexpr size_t kHeader = 16;  // the caller keeps its TN_HEADER
  const size_t size = std::min<size_t>(to->struct_size, sizeof(Struct));
  if (size > kHeader) {
    std::memcpy(reinterpret_cast<char*>(to) + kHeader,
                reinterpret_cast<const char*>(&from) + kHeader, size - kHeader);
  }
}

/// Row `i` of an array whose writer gave the stride of its rows.
template <class Struct>
const Struct* row_at(const Struct* rows, uint32_t stride, uint32_t i) {
  return reinterpret_cast<const Struct*>(reinterpret_cast<const char*>(rows) + size_t{stride} * i);
}

/// Copies text into a fixed array of the ABI, truncated and NUL-terminated.
void copy_text(char* to, size_t capacity, std::string_view text) noexcept;

}  // namespace tenon::sdk
