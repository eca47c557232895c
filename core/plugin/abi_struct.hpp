// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes and reads the growing structs of the ABI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tenon/plugin.h"

namespace tenon {

/// A zeroed struct with struct_size set.
template <class T>
T abi_struct() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

/// A copy of `source` up to its struct_size, with zeros after it.
template <class T>
T abi_read(const T* source) {
  uint32_t size = 0;
  std::memcpy(&size, source, sizeof size);
  T value{};
  std::memcpy(static_cast<void*>(&value), source, std::min<size_t>(size, sizeof(T)));
  value.struct_size = sizeof(T);
  return value;
}

/// Element `i` of an array with `stride` bytes between elements. Shorter elements are
/// zero-extended.
template <class T>
T abi_element(const T* first, uint32_t stride, uint32_t i) {
  T value{};
  std::memcpy(static_cast<void*>(&value), reinterpret_cast<const char*>(first) + size_t{i} * stride,
              std::min<size_t>(stride, sizeof(T)));
  return value;
}

/// The text of a fixed char array, which may lack the NUL.
template <size_t N>
std::string fixed_string(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

}  // namespace tenon
