// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens of the text form of programs, with their places.
#pragma once

#include <string>
#include <string_view>

#include "sdk/support/scanner.hpp"

namespace tenon::sdk {

struct Token {
  enum class Kind { kWord, kValue, kMark, kNewline, kEnd } kind = Kind::kEnd;
  std::string_view text;  ///< of a value without its %
  size_t position = 0;
};

/// Thrown and caught inside the parser.
struct TextError {
  size_t position;
  std::string message;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : scanner_(text, {.spaces = " \t\r", .comment = '#'}) {
    advance();
  }
  const Token& peek() const { return token_; }
  Token next() {
    const Token token = token_;
    advance();
    return token;
  }

 private:
  void advance();
  Scanner scanner_;
  Token token_;
};

[[noreturn]] void fail_at(const Token& token, const std::string& expected);

}  // namespace tenon::sdk
