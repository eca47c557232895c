// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the tokens of graphs and rules, and reports errors with line and column.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "sdk/support/scanner.hpp"

namespace tenon {

inline constexpr int kMaxGraphDepth = 16;

bool is_identifier(std::string_view text);   ///< letters, digits, _ and dots; no digit first
bool is_symbol_name(std::string_view text);  ///< no dots, and no keyword of expressions

class Cursor : public sdk::Scanner {
 public:
  Cursor(std::string_view text, std::string_view origin)
      : Scanner(text, {.spaces = " \t\n\r", .comment = '#'}), origin_(origin) {}

  void expect(std::string_view token);
  bool accept_word(std::string_view word);  ///< a whole identifier
  void expect_word(std::string_view word);

  std::string identifier(std::string_view what);
  std::string name(std::string_view what);  ///< identifier or quoted text
  std::string_view value_name();            ///< %name, %0 or %"quoted", then without the quotes
  std::string_view scalar();                ///< the characters of a scalar, unchecked
  int64_t integer(std::string_view what);
  /// Fast path for most expressions: digits right before a comma or a bracket.
  std::optional<int64_t> lone_number();

  [[noreturn]] void expected(std::string_view what);
  [[noreturn]] void error_at(size_t position, const std::string& message) const;

 private:
  std::string quoted_text();
  void check_name(std::string_view name, size_t start) const;

  std::string_view origin_;
  std::deque<std::string> unquoted_;  ///< storage of unquoted names
};

}  // namespace tenon
