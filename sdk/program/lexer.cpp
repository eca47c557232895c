// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words are runs of letters, digits and the signs of numbers; comments end with the line.
#include "sdk/program/lexer.hpp"

#include <fmt/format.h>

namespace tenon::sdk {
namespace {

bool is_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_word(char c) { return is_label(c) || c == '.' || c == '-' || c == '+'; }

size_t run(std::string_view text, size_t from, bool (*accepts)(char)) {
  while (from < text.size() && accepts(text[from])) ++from;
  return from;
}

}  // namespace

void Lexer::skip(size_t count) {
  rest_.remove_prefix(count);
  column_ += static_cast<int>(count);
}

void Lexer::advance() {
  while (!rest_.empty()) {
    const char c = rest_[0];
    if (c == ' ' || c == '\t' || c == '\r') {
      skip(1);
    } else if (c == '#') {
      skip(std::min(rest_.find('\n'), rest_.size()));
    } else {
      break;
    }
  }
  token_ = {Token::Kind::kEnd, {}, line_, column_};
  if (rest_.empty()) return;
  const char c = rest_[0];
  size_t size = 1;
  if (c == '\n') {
    token_.kind = Token::Kind::kNewline;
  } else if (c == '%') {
    size = run(rest_, 1, is_label);
    token_.kind = Token::Kind::kValue;
    token_.text = rest_.substr(1, size - 1);
    if (size == 1) fail_at(token_, "a name after %");
  } else if (is_word(c)) {
    size = run(rest_, 1, is_word);
    // The one word with brackets: nan(0x7fc00001).
    if (rest_.substr(0, size) == "nan" && rest_.substr(size).starts_with("(0x")) {
      size = run(rest_, size + 3, is_label);
      if (size < rest_.size() && rest_[size] == ')') ++size;
    }
    token_.kind = Token::Kind::kWord;
    token_.text = rest_.substr(0, size);
  } else {
    token_.kind = Token::Kind::kMark;
    token_.text = rest_.substr(0, 1);
    if (std::string_view("(){}[],:=").find(c) == std::string_view::npos) {
      fail_at(token_, "a letter, a digit or one of (){}[],:=%#");
    }
  }
  skip(size);
  if (c == '\n') {
    ++line_;
    column_ = 1;
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
      const bool is_plain = !token.text.empty() && token.text[0] >= ' ' && token.text[0] < 127;
      got = is_plain ? fmt::format("\"{}\"", token.text.substr(0, 64)) : "a strange character";
    }
  }
  throw TextError{token.line, token.column, fmt::format("expected {}, got {}", expected, got)};
}

}  // namespace tenon::sdk
