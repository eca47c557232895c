// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text/cursor.hpp"

#include <algorithm>

#include "core/ir/node.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

using sdk::is_letter;

bool is_word(char c) { return is_letter(c) || sdk::is_digit(c) || c == '.'; }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_word);
}

bool is_symbol_name(std::string_view text) {
  return is_identifier(text) && text.find('.') == std::string_view::npos &&
         text.size() <= kMaxName && text != "min" && text != "max";
}

void Cursor::expect(std::string_view token) {
  if (!accept(token)) expected(fmt::format("'{}'", token));
}

bool Cursor::accept_word(std::string_view word) {
  const size_t start = position();
  if (!accept(word)) return false;
  if (!is_word(next())) return true;
  seek(start);
  return false;
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
  const std::string_view name = run(is_word);
  check_name(name, start);
  return std::string(name);
}

std::string Cursor::quoted_text() {
  size_t at = position();
  const size_t start = at++;
  const auto here = [&] { return text().substr(std::min(at, text().size())); };
  std::string out;
  for (; !here().starts_with('"'); ++at) {
    if (here().empty() || !sdk::is_printable(here()[0]))
      error_at(start, "expected quoted text that ends on its line, got no closing '\"'");
    if (here()[0] != '\\') {
      out += here()[0];
    } else if (here().starts_with("\\\"") || here().starts_with("\\\\")) {
      out += here()[1];
      ++at;
    } else {
      const bool is_byte = here().starts_with("\\x") && here().size() >= 4;
      const auto byte = sdk::number_of<uint8_t>(is_byte ? here().substr(2, 2) : "", 16);
      if (!byte) error_at(at, "expected \\\", \\\\ or \\xNN in quoted text, got another escape");
      out += static_cast<char>(*byte);
      at += 3;
    }
  }
  seek(at + 1);
  check_name(out, start);
  return out;
}

std::string Cursor::name(std::string_view what) {
  position();
  return next() == '"' ? quoted_text() : identifier(what);
}

std::string_view Cursor::value_name() {
  const size_t start = position();
  if (!accept("%")) expected("a value like %x");
  if (next() == '"') return unquoted_.emplace_back("%" + quoted_text());
  const std::string_view name = run(is_word);
  if (name.empty()) {
    seek(start);
    expected("a value like %x");
  }
  check_name(name, start);
  return text().substr(start, name.size() + 1);
}

std::string_view Cursor::scalar() {
  const size_t start = position();
  const std::string_view word = run([](char c) { return is_word(c) || c == '+' || c == '-'; });
  if (word.empty()) expected("a number");
  if (word != "nan" || next() != '(') return word;
  const auto payload = run([](char c) { return c == '(' || is_word(c); });
  const bool closes = next() == ')';
  if (closes) seek(start + word.size() + payload.size() + 1);
  return text().substr(start, word.size() + payload.size() + closes);
}

int64_t Cursor::integer(std::string_view what) {
  const size_t start = position();
  int64_t value = 0;
  const std::errc error = number(value);
  if (error == std::errc::result_out_of_range)
    error_at(start, fmt::format("expected {}, got one beyond 64 bits", what));
  if (error != std::errc()) expected(what);
  return value;
}

std::optional<int64_t> Cursor::lone_number() {
  const size_t start = position();
  int64_t value = 0;
  if (number(value) == std::errc() && (next() == ',' || next() == ']' || next() == ')'))
    return value;
  seek(start);
  return std::nullopt;
}

void Cursor::expected(std::string_view what) {
  const size_t start = position();
  std::string got = "the end of the text";
  if (!at_end()) {
    size_t size = 1;
    if (is_word(next()) || next() == '%')
      while (size < 24 && start + size < text().size() && is_word(text()[start + size])) ++size;
    got = sdk::quote(text().substr(start, size));
  }
  error_at(start, fmt::format("expected {}, got {}", what, got));
}

void Cursor::error_at(size_t position, const std::string& message) const {
  const sdk::Place at = place(position);
  fail(ErrorKind::kInvalid, "{}:{}:{}: {}", origin_, at.line, at.column, message);
}

}  // namespace tenon
