// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words are runs of letters, digits and characters of numbers. Comments end with the line.
#include "sdk/program/lexer.hpp"

#include <fmt/format.h>

namespace tenon::sdk {
namespace {

bool is_label(char c) { return is_letter(c) || is_digit(c); }
bool is_word_char(char c) { return is_label(c) || c == '.' || c == '-' || c == '+'; }

}  // namespace

void Lexer::advance() {
  const size_t start = scanner_.position();
  token_ = {Token::Kind::kEnd, {}, start};
  if (scanner_.at_end()) return;
  const char c = scanner_.next();
  if (is_word_char(c)) {
    token_.kind = Token::Kind::kWord;
    token_.text = scanner_.run(is_word_char);
    // The one word with brackets: nan(0x7fc00001).
    if (token_.text == "nan" && scanner_.next() == '(' && scanner_.accept("(0x")) {
      const size_t digits = scanner_.run(is_label).size();
      const bool closes = scanner_.next() == ')';
      token_.text = scanner_.text().substr(start, 6 + digits + closes);
      scanner_.seek(start + token_.text.size());
    }
    return;
  }
  scanner_.seek(start + 1);
  if (c == '\n') {
    token_.kind = Token::Kind::kNewline;
  } else if (c == '%') {
    token_.kind = Token::Kind::kValue;
    token_.text = scanner_.run(is_label);
    if (token_.text.empty()) fail_at(token_, "a name after %");
  } else {
    token_.kind = Token::Kind::kMark;
    token_.text = scanner_.text().substr(start, 1);
    if (std::string_view("(){}[],:=").find(c) == std::string_view::npos) {
      fail_at(token_, "a letter, a digit or one of (){}[],:=%#");
    }
  }
}

void fail_at(const Token& token, const std::string& expected) {
  std::string got;
  switch (token.kind) {
    case Token::Kind::kEnd:
      got = "the end";
      break;
    case Token::Kind::kNewline:
      got = "the end of the line";
      break;
    case Token::Kind::kValue:
      got = fmt::format("\"%{}\"", token.text.substr(0, 64));
      break;
    case Token::Kind::kWord:
    case Token::Kind::kMark: {
      const bool is_plain = !token.text.empty() && is_printable(token.text[0]);
      got = is_plain ? fmt::format("\"{}\"", token.text.substr(0, 64)) : "a strange character";
    }
  }
  throw TextError{token.position, fmt::format("expected {}, got {}", expected, got)};
}

}  // namespace tenon::sdk
