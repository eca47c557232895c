// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in the metadata of checkpoints.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace tenon::train {

/// Of the whole text, whatever the locale; none: it is no number.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

}  // namespace tenon::train
