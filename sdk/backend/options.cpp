// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses device options.
#include "sdk/backend/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/support/failure.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::sdk {
namespace {

/// Decodes %XX. A comma in a value is written %2C.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '%') continue;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto code = number_of<uint8_t>(digits, 16);
    if (!code || digits.size() != 2 || *code == 0) {
      throw Failure(
          TN_ERROR_INVALID_ARGUMENT,
          fmt::format("options: expected two hexadecimal digits after %, got \"{}\"", text));
    }
    out.back() = static_cast<char>(*code);
    i += 2;
  }
  return out;
}

}  // namespace

Options::Options(std::string_view text) {
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    if (entry.empty()) continue;
    const size_t equals = std::min(entry.find('='), entry.size());
    const size_t value = std::min(equals + 1, entry.size());
    entries_.emplace_back(entry.substr(0, equals), percent_decoded(entry.substr(value)));
  }
}

std::optional<std::string> Options::take(std::string_view key) {
  const auto at = std::ranges::find_if(entries_, [&](auto& e) { return e.first == key; });
  if (at == entries_.end()) return std::nullopt;
  std::string value = std::move(at->second);
  entries_.erase(at);
  return value;
}

int64_t Options::take_integer(std::string_view key, int64_t minimum, int64_t maximum,
                              int64_t otherwise) {
  const std::optional<std::string> text = take(key);
  if (!text) return otherwise;
  const auto value = number_of<int64_t>(*text);
  if (!value || *value < minimum || *value > maximum) {
    throw Failure(TN_ERROR_INVALID_ARGUMENT,
                  fmt::format("option {}: expected a number from {} to {}, got \"{}\"", key,
                              minimum, maximum, *text));
  }
  return *value;
}

void Options::require_all_taken() const {
  if (entries_.empty()) return;
  throw Failure(
      TN_ERROR_INVALID_ARGUMENT,
      fmt::format("option {}: expected a key that the backend knows", entries_.front().first));
}

}  // namespace tenon::sdk
