// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making and reading the ABI's growing structs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tenon/plugin.h"

namespace tenon {

/// A zeroed struct with its size set.
template <class T>
T abi_struct() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

/// What `source` holds up to its own struct_size; bytes past it read as zero.
template <class T>
T abi_read(const T* source) {
  uint32_t size = 0;
  std::memcpy(&size, source, sizeof size);
  T value{};
  std::memcpy(static_cast<void*>(&value), source, std::min<size_t>(size, sizeof(T)));
  value.struct_size = sizeof(T);
  return value;
}

/// Element `i` of an array whose writer spaced it by `stride`; shorter elements end in zeros.
template <class T>
T abi_element(const T* first, uint32_t stride, uint32_t i) {
  T value{};
  std::memcpy(static_cast<void*>(&value), reinterpret_cast<const char*>(first) + size_t{i} * stride,
              std::min<size_t>(stride, sizeof(T)));
  return value;
}

/// A fixed char array, even if its writer forgot the NUL.
template <size_t N>
std::string fixed_string(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

}  // namespace tenon
