// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scanner of all text formats: reads characters and words with line and column. Separators,
// tokens and error messages belong to the formats.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::sdk {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {  ///< first character of names
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_printable(char c) { return c >= ' ' && c < 0x7f; }

/// The whole text as a number, read by std::from_chars.
template <class T>
std::optional<T> number_of(std::string_view text, auto... format) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// In double quotes, with \xNN for all but printable ASCII.
inline std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (is_printable(c))
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  }
  return out + "\"";
}

/// Characters between tokens.
struct Separators {
  std::string_view spaces = " \t\n\v\f\r";
  char comment = '\0';  ///< begins a comment up to the end of the line; '\0': none
};

/// Line and column from 1; columns count bytes.
struct Place {
  size_t line = 1, column = 1;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text, Separators separators = {})
      : text_(text), separators_(separators) {}

  std::string_view text() const { return text_; }
  Place place(size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const size_t newline = before.rfind('\n');
    const auto line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
    return {line, newline == before.npos ? position + 1 : position - newline};
  }

  /// Position of the next token, after separators, for seek() and errors.
  size_t position() {
    for (; at_ < text_.size(); ++at_) {
      if (separators_.comment && text_[at_] == separators_.comment)
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      else if (separators_.spaces.find(text_[at_]) == std::string_view::npos)
        break;
    }
    return at_;
  }
  void seek(size_t position) { at_ = position; }

  bool at_end() { return position() == text_.size(); }
  bool line_ends() {  ///< nothing more on this line
    const size_t start = at_;
    return text_.substr(start, position() - start).find('\n') != text_.npos || at_end();
  }

  /// Whether the next characters are `token`, whatever follows.
  bool peek(std::string_view token) { return text_.substr(position()).starts_with(token); }
  bool accept(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }

  /// The next character ('\0' at the end), and the next run of accepted ones, without skipping
  /// separators.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  template <class Accepts>
  std::string_view run(Accepts accepts) {
    const size_t start = at_;
    while (at_ < text_.size() && accepts(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Characters up to a space, one of `marks` or the end. May be empty.
  std::string_view word(std::string_view marks = {}) {
    position();
    return run([&](char c) {
      return separators_.spaces.find(c) == std::string_view::npos &&
             marks.find(c) == std::string_view::npos;
    });
  }
  std::string_view rest() {
    position();
    return run([](char) { return true; });
  }

  /// Reads a number by std::from_chars, returns its error, and moves past the number on success.
  template <class T>
  std::errc number(T& value) {
    const char* begin = text_.data() + position();
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc()) at_ += static_cast<size_t>(stop - begin);
    return error;
  }

 private:
  std::string_view text_;
  Separators separators_;
  size_t at_ = 0;
};

}  // namespace tenon::sdk
