// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in JSON, which has no infinity and no NaN: they are strings. Of nlohmann's types.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "core/support/error.hpp"

namespace tenon::conformance {

template <class Json>
Json json_number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

/// Throws kInvalid, and what Json throws.
template <class Json>
double number_of(const Json& json) {
  if (!json.is_string()) return json.template get<double>();
  const auto text = json.template get<std::string>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "inf") return kInfinity;
  if (text == "-inf") return -kInfinity;
  TN_REQUIRE(text == "nan", "[report] expected a number, inf, -inf or nan, got \"{}\"", text);
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tenon::conformance
