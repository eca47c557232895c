// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place in a text: reads tokens, and reports errors with line and column. Private to core/ir.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

inline constexpr int kMaxGraphDepth = 16;

bool is_identifier(std::string_view text);   ///< letters, digits, _ and dots; no digit first
bool is_symbol_name(std::string_view text);  ///< no dots; none of the words of expressions
std::string quote(std::string_view text);    ///< in "", other than printable ASCII as \xNN

class Cursor {
 public:
  Cursor(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  /// Behind spaces and comments; these positions go to seek() and to errors.
  size_t position();
  void seek(size_t position) { at_ = position; }
  bool at_end() { return position() == text_.size(); }

  bool line_ends();                     ///< nothing more on this line
  bool peek(std::string_view token);    ///< the next characters, whatever follows them
  bool accept(std::string_view token);  ///< as peek, and moves on
  void expect(std::string_view token);
  bool accept_word(std::string_view word);  ///< a whole identifier
  void expect_word(std::string_view word);

  std::string identifier(std::string_view what);
  std::string name(std::string_view what);  ///< identifier or quoted text
  std::string_view value_name();            ///< %name, %0 or %"quoted", then without the quotes
  std::string_view number();                ///< characters of a scalar, unchecked
  int64_t integer(std::string_view what);
  /// Most expressions: digits right before a comma or a bracket.
  std::optional<int64_t> lone_number();

  [[noreturn]] void expected(std::string_view what);
  [[noreturn]] void error_at(size_t position, const std::string& message) const;

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string quoted_text();
  void check_name(std::string_view name, size_t start) const;

  std::string_view text_;
  std::string_view origin_;
  size_t at_ = 0;
  std::deque<std::string> unquoted_;  ///< what value_name() took out of quotes
};

}  // namespace tenon
