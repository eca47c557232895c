// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct of another size than this build's, with bytes around it that nobody may touch.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "conformance/abi/finding.hpp"

namespace tenon::conformance::abi {

template <class T>
class Canary {
 public:
  /// `size` is its struct_size; the rest up to a full struct and beyond is guarded. What fits of
  /// `from` is copied; bytes that a longer struct has are set.
  explicit Canary(uint32_t size, const T& from = {})
      : size_(size), bytes_(kGuard + std::max<size_t>(size, sizeof(T)) + kGuard, kPattern) {
    if (size > sizeof(T)) std::memset(at() + sizeof(T), 0, size - sizeof(T));
    std::memcpy(at(), &from, std::min<size_t>(size, sizeof(T)));
    std::memcpy(at(), &size, sizeof size);
  }

  T* get() { return reinterpret_cast<T*>(at()); }
  /// Throws a Finding if a byte outside the struct has changed.
  void expect_intact(const char* what) {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const bool outside = i < kGuard || i >= kGuard + size_;
      if (outside && bytes_[i] != kPattern)
        find("error", "{}: expected nothing written beyond struct_size {}, got byte {} changed",
             what, size_, static_cast<int64_t>(i) - static_cast<int64_t>(kGuard));
    }
  }
  /// For structs that a newer host makes: what lies beyond the part that the plugin knows.
  void fill_tail(uint8_t value) {
    if (size_ > sizeof(T)) std::memset(at() + sizeof(T), value, size_ - sizeof(T));
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kPattern = 0xC7;
  unsigned char* at() { return bytes_.data() + kGuard; }
  uint32_t size_;
  std::vector<unsigned char> bytes_;
};

}  // namespace tenon::conformance::abi
