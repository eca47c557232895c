// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text_cursor.hpp"

#include <algorithm>
#include <charconv>

#include "core/ir/node.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_printable(char c) { return c >= ' ' && c < 0x7f; }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_word);
}

bool is_symbol_name(std::string_view text) {
  return is_identifier(text) && text.find('.') == std::string_view::npos &&
         text.size() <= kMaxName && text != "min" && text != "max";
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_printable(c)) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    }
  }
  return out + "\"";
}

size_t Cursor::position() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (is_space(text_[at_])) {
      ++at_;
    } else {
      break;
    }
  }
  return at_;
}

bool Cursor::line_ends() {
  const size_t start = at_;
  return text_.substr(start, position() - start).find('\n') != std::string_view::npos || at_end();
}

bool Cursor::peek(std::string_view token) { return text_.substr(position()).starts_with(token); }

bool Cursor::accept(std::string_view token) {
  if (!peek(token)) return false;
  at_ += token.size();
  return true;
}

void Cursor::expect(std::string_view token) {
  if (!accept(token)) expected(fmt::format("'{}'", token));
}

bool Cursor::accept_word(std::string_view word) {
  if (!peek(word)) return false;
  const size_t end = at_ + word.size();
  if (end < text_.size() && is_word(text_[end])) return false;
  at_ = end;
  return true;
}

void Cursor::expect_word(std::string_view word) {
  if (!accept_word(word)) expected(fmt::format("'{}'", word));
}

void Cursor::check_name(std::string_view name, size_t start) const {
  if (name.size() > kMaxName)
    error_at(start,
             fmt::format("expected a name of at most {} bytes, got {}", kMaxName, name.size()));
}

std::string Cursor::identifier(std::string_view what) {
  const size_t start = position();
  if (!is_letter(next())) expected(what);
  while (is_word(next())) ++at_;
  const std::string_view name = text_.substr(start, at_ - start);
  check_name(name, start);
  return std::string(name);
}

std::string Cursor::quoted_text() {
  const size_t start = at_++;
  std::string out;
  while (next() != '"') {
    if (!is_printable(next()))
      error_at(start, "expected quoted text that ends on its line, got no closing '\"'");
    if (next() != '\\') {
      out += text_[at_++];
      continue;
    }
    const std::string_view escape = text_.substr(at_, 4);
    uint8_t byte = 0;
    if (escape.size() >= 2 && (escape[1] == '"' || escape[1] == '\\')) {
      out += escape[1];
      at_ += 2;
    } else if (escape.size() == 4 && escape[1] == 'x' &&
               std::from_chars(&escape[2], &escape[2] + 2, byte, 16).ptr == &escape[2] + 2) {
      out += static_cast<char>(byte);
      at_ += 4;
    } else {
      error_at(at_, "expected \\\", \\\\ or \\xNN in quoted text, got another escape");
    }
  }
  ++at_;
  check_name(out, start);
  return out;
}

std::string Cursor::name(std::string_view what) {
  position();
  return next() == '"' ? quoted_text() : identifier(what);
}

std::string_view Cursor::value_name() {
  const size_t start = position();
  if (next() != '%') expected("a value like %x");
  ++at_;
  if (next() == '"') return unquoted_.emplace_back("%" + quoted_text());
  const size_t first = at_;
  while (is_word(next())) ++at_;
  if (at_ == first) {
    at_ = start;
    expected("a value like %x");
  }
  check_name(text_.substr(first, at_ - first), start);
  return text_.substr(start, at_ - start);
}

std::string_view Cursor::number() {
  const size_t start = position();
  while (is_word(next()) || next() == '+' || next() == '-') ++at_;
  if (at_ == start) expected("a number");
  if (next() == '(' && text_.substr(start, at_ - start) == "nan") {
    while (next() == '(' || is_word(next())) ++at_;
    if (next() == ')') ++at_;
  }
  return text_.substr(start, at_ - start);
}

int64_t Cursor::integer(std::string_view what) {
  const size_t start = position();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range)
    error_at(start, fmt::format("expected {}, got one beyond 64 bits", what));
  if (error != std::errc()) expected(what);
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::optional<int64_t> Cursor::lone_number() {
  const std::string_view rest = text_.substr(position());
  int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const bool stands_alone = error == std::errc() && end != rest.data() + rest.size() &&
                            (*end == ',' || *end == ']' || *end == ')');
  if (!stands_alone) return std::nullopt;
  at_ += static_cast<size_t>(end - rest.data());
  return value;
}

void Cursor::expected(std::string_view what) {
  const size_t start = position();
  std::string got = "the end of the text";
  if (start < text_.size()) {
    size_t end = start + 1;
    if (is_word(text_[start]) || text_[start] == '%')
      while (end < text_.size() && end < start + 24 && is_word(text_[end])) ++end;
    got = quote(text_.substr(start, end - start));
  }
  error_at(start, fmt::format("expected {}, got {}", what, got));
}

void Cursor::error_at(size_t position, const std::string& message) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? position + 1 : position - newline;
  fail(ErrorKind::kInvalid, "{}:{}:{}: {}", origin_, line, column, message);
}

}  // namespace tenon
