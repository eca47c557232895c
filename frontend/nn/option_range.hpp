// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of layers and optimizers, and the range of each.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "core/support/error.hpp"

namespace tenon::nn {

enum class OptionRange : uint8_t {
  kFinite,
  kNotNegative,  ///< [0, inf)
  kPositive,     ///< (0, inf)
  kNegative,     ///< (-inf, 0)
  kPart,         ///< [0, 1)
};

inline bool is_within(double value, OptionRange range) {
  if (!std::isfinite(value)) return false;
  switch (range) {
    case OptionRange::kFinite:
      return true;
    case OptionRange::kNotNegative:
      return value >= 0;
    case OptionRange::kPositive:
      return value > 0;
    case OptionRange::kNegative:
      return value < 0;
    case OptionRange::kPart:
      return value >= 0 && value < 1;
  }
  return false;
}

struct OptionRow {
  std::string_view name;
  double value;
  OptionRange range;
};

/// Throws kInvalid, naming the first that is outside of its range: also one that is NaN or
/// infinite.
inline void check_options(std::string_view op, std::initializer_list<OptionRow> options) {
  constexpr std::string_view kTexts[] = {"(-inf, inf)", "[0, inf)", "(0, inf)", "(-inf, 0)",
                                         "[0, 1)"};
  for (const OptionRow& option : options)
    TN_REQUIRE(is_within(option.value, option.range), "[{}] expected {} in {}, got {}", op,
               option.name, kTexts[static_cast<size_t>(option.range)], option.value);
}

}  // namespace tenon::nn
