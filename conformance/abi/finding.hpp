// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a sequence or a check ends before its end: thrown, as a Finding is where the plugin broke the
// contract, and caught by the ApiHarness.
#pragma once

#include <fmt/format.h>

#include <string>

#include "conformance/cases/finding.hpp"
#include "core/plugin/status.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::abi {

/// The plugin leaves out, as it may, what the check is about.
struct NotThere {
  std::string text;
};
/// The plugin said TN_ERROR_DEVICE_LOST.
struct Lost {
  std::string text;
};
/// The case itself is not legal, so nothing follows for the plugin.
struct IllegalCase {
  std::string kind, text;
};

template <class... Arguments>
[[noreturn]] void find(std::string kind, fmt::format_string<Arguments...> text,
                       Arguments&&... arguments) {
  throw Finding{std::move(kind), fmt::format(text, std::forward<Arguments>(arguments)...)};
}

/// FINDs of kind "error" unless the condition holds: for rules that are not about bytes.
template <class... Arguments>
void expect(bool condition, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (!condition) find("error", text, std::forward<Arguments>(arguments)...);
}

/// A legal call must succeed.
inline void expect_ok(int32_t status, const tn_error& error, const char* call) {
  if (status == TN_OK) return;
  const std::string said = error_message(status, error);
  if (status == TN_ERROR_DEVICE_LOST) throw Lost{fmt::format("{}: {}", call, said)};
  find("error", "{}: expected TN_OK, got {} ({})", call, status_text(status), said);
}

}  // namespace tenon::conformance::abi
