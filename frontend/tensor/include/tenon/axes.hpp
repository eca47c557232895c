// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The axes that a function works on: x.sum(0), x.sum({0, -1}), x.sum() for all.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tenon/error.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// An axis that is not there; its kind is kInvalid.
class TENON_API AxisError : public Error {
 public:
  explicit AxisError(const std::string& message) : Error(ErrorKind::kInvalid, message) {}
};

/// One axis or a list of them; a negative one counts from the end. What an empty list means, the
/// function says. A function throws AxisError for an axis that is not there, kInvalid for one
/// twice.
class TENON_API Axes {
 public:
  Axes() = default;
  template <std::integral T>
  requires(!std::same_as<T, bool> && sizeof(T) <= sizeof(int))
      Axes(T axis)  // NOLINT: one is a list
      : axes_{static_cast<int>(axis)} {
    if (!std::in_range<int>(axis)) out_of_range(static_cast<uint64_t>(axis));
  }
  Axes(std::initializer_list<int> axes) : axes_(axes) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}  // NOLINT: a list is one

  size_t size() const { return axes_.size(); }
  bool empty() const { return axes_.empty(); }
  int operator[](size_t i) const { return axes_[i]; }
  auto begin() const { return axes_.begin(); }
  auto end() const { return axes_.end(); }

 private:
  [[noreturn]] static void out_of_range(uint64_t axis);
  std::vector<int> axes_;
};

}  // namespace tenon
