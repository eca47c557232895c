// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors and growing structs at the boundary: exceptions become statuses, and a struct of a shorter
// or longer writer is read and written safely.
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

/// The caller's mistake: throws a Failure of TN_ERROR_INVALID_ARGUMENT.
[[noreturn]] inline void refuse(const std::string& message) {
  throw Failure(TN_ERROR_INVALID_ARGUMENT, message);
}
inline void require(bool condition, const char* message) {
  if (!condition) refuse(message);
}

/// Fills the caller's error as far as its struct_size reaches, and returns `code`.
int32_t write_error(tn_error* error, int32_t code, const std::string& message,
                    int32_t vendor_code = 0) noexcept;
/// Inside a catch (...): the status of the exception; std::bad_alloc is TN_ERROR_OUT_OF_MEMORY.
int32_t report_exception(tn_error* error) noexcept;

/// Runs `body`, with floats as kernels want them; what it throws becomes the status.
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

/// A copy of `from`, zero where its writer's struct_size does not reach.
template <class Struct>
Struct read_struct(const Struct* from) {
  Struct out = {};
  std::memcpy(&out, from, std::min<size_t>(from->struct_size, sizeof(Struct)));
  return out;
}

/// One field, zero where the writer's struct_size does not reach.
template <class Struct, class Field>
Field field_or_zero(const Struct* from, Field Struct::*member) {
  const auto* field = reinterpret_cast<const char*>(&(from->*member));
  const size_t end = size_t(field - reinterpret_cast<const char*>(from)) + sizeof(Field);
  return end <= from->struct_size ? from->*member : Field{};
}

/// Copies all after the header into a caller's struct, as far as its struct_size reaches.
template <class Struct>
void write_struct(Struct* to, const Struct& from) {
  constexpr size_t kHeader = 16;  // TN_HEADER stays the caller's
  const size_t size = std::min<size_t>(to->struct_size, sizeof(Struct));
  if (size > kHeader) {
    std::memcpy(reinterpret_cast<char*>(to) + kHeader,
                reinterpret_cast<const char*>(&from) + kHeader, size - kHeader);
  }
}

/// Row `i` of an array whose writer said how far its rows are apart.
template <class Struct>
const Struct* row_at(const Struct* rows, uint32_t stride, uint32_t i) {
  return reinterpret_cast<const Struct*>(reinterpret_cast<const char*>(rows) + size_t{stride} * i);
}

/// Text into a fixed array of the ABI, cut at its end, always NUL-terminated.
void copy_text(char* to, size_t capacity, std::string_view text) noexcept;

}  // namespace tenon::sdk
