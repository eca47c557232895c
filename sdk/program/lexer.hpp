// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens of the text form of programs, each with its place.
#pragma once

#include <string>
#include <string_view>

namespace tenon::sdk {

struct Token {
  enum class Kind { kWord, kValue, kMark, kNewline, kEnd } kind = Kind::kEnd;
  std::string_view text;  ///< of a value without its %
  int line = 1, column = 1;
};

/// Thrown and caught inside the parser.
struct TextError {
  int line, column;
  std::string message;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) { advance(); }
  const Token& peek() const { return token_; }
  Token next() {
    const Token token = token_;
    advance();
    return token;
  }

 private:
  void advance();
  void skip(size_t count);
  std::string_view rest_;
  int line_ = 1, column_ = 1;
  Token token_;
};

[[noreturn]] void fail_at(const Token& token, const std::string& expected);

}  // namespace tenon::sdk
