// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One scanner for all text formats: what stands next, and in which line and column. What separates
// tokens, what a token is and how a mistake is told belongs to the format.
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
constexpr bool is_letter(char c) {  ///< as names begin
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_printable(char c) { return c >= ' ' && c < 0x7f; }

/// The number that is the whole text, as std::from_chars reads it.
template <class T>
std::optional<T> number_of(std::string_view text, auto... format) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// In "", other than printable ASCII as \xNN.
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

/// What separates tokens.
struct Separators {
  std::string_view spaces = " \t\n\v\f\r";
  char comment = '\0';  ///< begins one that ends with its line; '\0' for none
};

/// Line and column, from 1; a column is a byte.
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

  /// After separators; these positions go to seek() and to errors.
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

  /// The next characters, whatever follows them.
  bool peek(std::string_view token) { return text_.substr(position()).starts_with(token); }
  bool accept(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }

  /// What follows no separator: a character, '\0' at the end; and all that are accepted from here.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  template <class Accepts>
  std::string_view run(Accepts accepts) {
    const size_t start = at_;
    while (at_ < text_.size() && accepts(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Up to a space or one of `marks`, or all up to the end; empty if there is nothing.
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

  /// As std::from_chars, whose error it gives; the scanner moves past the number if there is none.
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
