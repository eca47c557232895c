// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers of packed programs are bound in whole words; what fills the last one up belongs to
// others.
#pragma once

#include <stdexcept>
#include <vector>

#include "core/reference/reference.hpp"
#include "sdk/program/view.hpp"

namespace tenon::test {

inline constexpr size_t kWord = 4;
inline constexpr uint8_t kOthers = 0x5C;

inline void fill_up(std::vector<Array>& arrays) {
  for (Array& a : arrays) a.bytes.resize((a.bytes.size() + kWord - 1) / kWord * kWord, kOthers);
}

inline bool is_in_words(const sdk::ProgramView& program) {
  for (uint32_t p = 0; p < program.param_count(); ++p)
    if (sdk::dtype_bytes(static_cast<uint8_t>(program.param(p).dtype)) < kWord) return false;
  return true;
}

inline void cut_off(std::vector<Array>& arrays) {
  for (Array& a : arrays) {
    const size_t size = static_cast<size_t>(a.count()) * dtype_size(a.dtype);
    for (size_t i = size; i < a.bytes.size(); ++i)
      if (a.bytes[i] != kOthers) throw std::runtime_error("a byte after a buffer was changed");
    a.bytes.resize(size);
  }
}

}  // namespace tenon::test
