// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses the text form, one op per line, without recursion. verify_program checks the result.
#include <fmt/format.h>

#include <charconv>
#include <unordered_map>
#include <vector>

#include "sdk/program/lexer.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/text.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/program/verify_ops.hpp"
#include "sdk/program/words.hpp"

namespace tenon::sdk {
namespace {

using Kind = Token::Kind;
using Value = ProgramBuilder::Value;

struct ParsedType {
  tn_dtype dtype;
  uint16_t lanes;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Program run() {
    skip_newlines();
    expect_word("program");
    const Token name = lexer_.peek();
    builder_ = ProgramBuilder(std::string(take_name()));
    expect_mark("(");
    skip_newlines();
    while (!is_mark(")")) {
      parse_param(take(Kind::kValue, "a parameter as %x"), ":");
      skip_newlines();
      if (is_mark(")")) break;
      expect_mark(",");
      skip_newlines();
    }
    expect_mark(")");
    expect_word("workgroup");
    uint32_t size[3];
    for (uint32_t& axis : size) axis = take_number<uint32_t>("threads");
    builder_.workgroup(size[0], size[1], size[2]);
    if (is_word("subgroup")) {
      lexer_.next();
      builder_.subgroup(take_number<uint32_t>("a subgroup size"));
    }
    expect_mark("{");
    expect_newline();
    parse_body();
    skip_newlines();
    if (lexer_.peek().kind != Kind::kEnd) fail_at(lexer_.peek(), "the end of the text");
    return finish(name);
  }

 private:
  // ---- Tokens ----
  bool is_mark(std::string_view text) const {
    return lexer_.peek().kind == Kind::kMark && lexer_.peek().text == text;
  }
  bool is_word(std::string_view text) const {
    return lexer_.peek().kind == Kind::kWord && lexer_.peek().text == text;
  }
  Token take(Kind kind, const char* expected) {
    if (lexer_.peek().kind != kind) fail_at(lexer_.peek(), expected);
    return lexer_.next();
  }
  void expect_mark(std::string_view text) {
    if (!is_mark(text)) fail_at(lexer_.peek(), fmt::format("\"{}\"", text));
    lexer_.next();
  }
  void expect_word(std::string_view text) {
    if (!is_word(text)) fail_at(lexer_.peek(), fmt::format("\"{}\"", text));
    lexer_.next();
  }
  void expect_newline() { take(Kind::kNewline, "the end of the line"); }
  void skip_newlines() {
    while (lexer_.peek().kind == Kind::kNewline) lexer_.next();
  }
  std::string_view take_name() {
    const Token token = take(Kind::kWord, "a name");
    if (!is_program_name(token.text)) fail_at(token, "a C identifier");
    return token.text;
  }
  template <class T>
  T take_number(const char* what) {
    const Token token = take(Kind::kWord, what);
    const std::optional<T> value = number_of<T>(token.text);
    if (!value) fail_at(token, fmt::format("{} as a number", what));
    return *value;
  }
  template <class Words>
  uint32_t take_choice(const Words& words, const char* what) {
    const Token token = take(Kind::kWord, what);
    const words::Word* word = words::find(words, token.text);
    if (!word) fail_at(token, what);
    return word->value;
  }
  template <class Words>
  uint32_t take_flags(const Words& words) {
    uint32_t flags = 0;
    while (lexer_.peek().kind == Kind::kWord) {
      const words::Word* word = words::find(words, lexer_.peek().text);
      if (!word) break;
      flags |= word->value;
      lexer_.next();
    }
    return flags;
  }

  // ---- Values and types ----
  Value lookup(const Token& token) const {
    const auto at = values_.find(token.text);
    if (at == values_.end()) fail_at(token, "a value defined above");
    return at->second;
  }
  void define(const Token& label, Value value) {
    if (!values_.emplace(label.text, value).second) fail_at(label, "a name not used before");
  }
  Value take_value() { return lookup(take(Kind::kValue, "a value as %1")); }
  std::vector<Value> take_values() {
    std::vector<Value> values;
    if (lexer_.peek().kind != Kind::kValue) return values;
    values.push_back(take_value());
    while (is_mark(",")) {
      lexer_.next();
      values.push_back(take_value());
    }
    if (values.size() > UINT16_MAX) fail_at(lexer_.peek(), "at most 65535 operands");
    return values;
  }
  tn_dtype take_dtype() {
    const Token token = take(Kind::kWord, "a dtype");
    const uint8_t dtype = dtype_by_text(token.text);
    if (dtype == TN_DTYPE_VOID) fail_at(token, "a dtype");
    return static_cast<tn_dtype>(dtype);
  }
  ParsedType take_type() {
    expect_mark(":");
    const Token token = take(Kind::kWord, "a type");
    const size_t x = std::min(token.text.rfind('x'), token.text.size());
    const uint8_t dtype = dtype_by_text(token.text.substr(0, x));
    const bool is_vector = x < token.text.size();
    const auto lanes = number_of<uint16_t>(is_vector ? token.text.substr(x + 1) : "1");
    if (dtype == TN_DTYPE_VOID || !lanes || (is_vector && *lanes < 2))
      fail_at(token, "a type as f32 or f32x8");
    return {static_cast<tn_dtype>(dtype), *lanes};
  }

  // ---- Params ----
  void parse_param(const Token& label, std::string_view mark) {
    if (!is_program_name(label.text)) fail_at(label, "a C identifier");
    if (!mark.empty()) expect_mark(mark);
    if (builder_.op_count() >= kMaxProgramOps) fail_at(label, "fewer ops");
    op_tokens_.push_back(label);
    const Token first = lexer_.peek();
    if (dtype_by_text(first.text) != TN_DTYPE_VOID) {
      const tn_dtype dtype = take_dtype();
      int64_t minimum = 0, maximum = 0;
      if (is_word("in")) {
        lexer_.next();
        expect_mark("[");
        minimum = take_number<int64_t>("a minimum");
        expect_mark(",");
        maximum = take_number<int64_t>("a maximum");
        expect_mark("]");
      }
      define(label, builder_.scalar(label.text, dtype, minimum, maximum));
      return;
    }
    const auto space = static_cast<tn_space>(take_choice(words::kSpaces, "an address space"));
    const tn_dtype dtype = take_dtype();
    uint64_t count = 0;
    if (is_mark("[")) {
      lexer_.next();
      count = take_number<uint64_t>("a number of elements");
      expect_mark("]");
    }
    const uint32_t access = take_flags(words::kAccess);
    uint32_t alignment = 0;
    if (is_word("align")) {
      lexer_.next();
      const Token at = lexer_.peek();
      alignment = take_number<uint32_t>("an alignment");
      if (alignment == 0 || (alignment & (alignment - 1))) fail_at(at, "a power of two");
    }
    if (space == TN_SPACE_GLOBAL || space == TN_SPACE_CONSTANT) {
      define(label, builder_.buffer(label.text, dtype, access, count, alignment, space));
    } else if (access) {
      fail_at(first, "an allocation without access words");
    } else {
      if (count > kMaxAllocationBytes) fail_at(first, "a smaller allocation");
      define(label, builder_.allocate(label.text, dtype, space, count, alignment));
    }
  }

  // ---- Ops ----
  void parse_body() {
    uint32_t depth = 1;
    while (depth) {
      skip_newlines();
      const Token at = lexer_.peek();
      if (builder_.op_count() >= kMaxProgramOps) fail_at(at, "fewer ops");
      if (is_mark("}")) {
        lexer_.next();
        if (--depth) depth += parse_close(at);
      } else if (is_word("end")) {
        lexer_.next();
        end_operands_ = take_values();
        expect_newline();
        skip_newlines();
        if (!is_mark("}")) fail_at(lexer_.peek(), "\"}\" after an end");
        if (depth == 1) fail_at(at, "an end inside a loop");
      } else if (at.kind == Kind::kValue) {
        lexer_.next();
        expect_mark("=");
        depth += parse_valued(at);
      } else {
        depth += parse_void(at);
      }
    }
  }

  /// Parses after a "}": an else, or the end of a region.
  uint32_t parse_close(const Token& at) {
    op_tokens_.push_back(at);
    const bool is_else = is_word("else");
    if (is_else) {
      lexer_.next();
      expect_mark("{");
      if (!end_operands_.empty()) fail_at(at, "no end before an else");
      builder_.begin_else();
    } else {
      builder_.end(end_operands_);
    }
    end_operands_.clear();
    expect_newline();
    return is_else;
  }

  uint32_t parse_void(const Token& at) {
    const Token name = take(Kind::kWord, "an op");
    op_tokens_.push_back(at);
    if (name.text == "if") {
      builder_.begin_if(take_value());
      expect_mark("{");
      expect_newline();
      return 1;
    }
    if (name.text == "barrier") {
      const uint32_t scope = take_choice(words::kScopes, "a scope");
      builder_.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, scope);
    } else if (name.text == "store") {
      const std::vector<Value> operands = take_values();
      builder_.op(TN_OP_STORE, TN_DTYPE_VOID, 0, operands, 0, take_flags(words::kFlags));
    } else if (const OpInfo* info = valueless(name.text); info) {
      const uint64_t imm =
          info->op == TN_OP_ASYNC_WAIT
              ? take_number<uint32_t>("groups")
              : parse_suffix(name, *info,
                             name.text.substr(std::min(info->text.size() + 1, name.text.size())));
      builder_.op(static_cast<tn_opcode>(info->op), TN_DTYPE_VOID, 0, take_values(), imm);
    } else {
      fail_at(name, "an op without a value: store, if or barrier");
    }
    expect_newline();
    return 0;
  }

  /// Ops without value, whose line begins with their name and suffix.
  static const OpInfo* valueless(std::string_view text) {
    const OpInfo* info = op_by_text(text.substr(0, text.find('.')));
    const bool is_one = info && (info->op == TN_OP_MATRIX_STORE || info->op == TN_OP_ASYNC_COPY ||
                                 info->op == TN_OP_ASYNC_COMMIT || info->op == TN_OP_ASYNC_WAIT);
    return is_one ? info : nullptr;
  }

  uint32_t parse_valued(const Token& label) {
    const Token name = take(Kind::kWord, "an op");
    if (name.text == "param") {
      parse_param(label, "");
      expect_newline();
      return 0;
    }
    op_tokens_.push_back(label);
    if (name.text == "loop") {
      parse_loop(label);
      return 1;
    }
    const size_t dot = std::min(name.text.find('.'), name.text.size());
    const OpInfo* info = op_by_text(name.text.substr(0, dot));
    const bool is_plain = info && info->kind != OpKind::CONTROL && info->op != TN_OP_STORE &&
                          info->op != TN_OP_BARRIER && info->op != TN_OP_PARAM &&
                          !valueless(info->text);
    if (!is_plain) fail_at(name, "an op with a value");
    const std::string_view suffix = name.text.substr(std::min(dot + 1, name.text.size()));
    uint64_t imm = parse_suffix(name, *info, suffix);
    const Token constant = lexer_.peek();
    std::vector<Value> operands;
    if (info->op == TN_OP_CONST) {
      take(Kind::kWord, "a constant");
    } else if (info->op == TN_OP_INDEX) {
      imm = take_choice(words::kAxes, "an axis");
    } else if (info->op == TN_OP_EXTRACT || info->op == TN_OP_SUBGROUP_BROADCAST) {
      operands = {take_value()};
      expect_mark(",");
      imm = take_number<uint16_t>("a lane");
    } else {
      operands = take_values();
    }
    const uint32_t flags = take_flags(words::kFlags);
    const ParsedType type = take_type();
    expect_newline();
    if (info->op == TN_OP_CONST) {
      const auto bits = parse_scalar(constant.text, type.dtype);
      if (!bits) fail_at(constant, fmt::format("a value of {}", dtype_text(type.dtype)));
      imm = *bits;
    }
    define(label, builder_.op(static_cast<tn_opcode>(info->op), type.dtype, type.lanes, operands,
                              imm, flags));
    return 0;
  }

  /// The imm for the suffix of an opcode.
  static uint64_t parse_suffix(const Token& name, const OpInfo& info, std::string_view suffix) {
    if (info.op == TN_OP_LANE_REDUCE || info.op == TN_OP_SUBGROUP_REDUCE) {
      const OpInfo* by = op_by_text(suffix);
      if (!by) fail_at(name, "a reduction as lane_reduce.add, .mul or .max");
      return by->op;
    }
    if (info.op == TN_OP_ATOMIC) {
      const size_t dot = std::min(suffix.find('.'), suffix.size());
      const auto* kind = words::find(words::kAtomics, suffix.substr(0, dot));
      const auto* scope =
          words::find(words::kScopes, suffix.substr(std::min(dot + 1, suffix.size())));
      if (!kind || !scope) fail_at(name, "an atomic as atomic.add.block");
      return kind->value | uint64_t{scope->value} << 8;
    }
    if (info.op >= TN_OP_MATRIX_LOAD && info.op <= TN_OP_ASYNC_COPY) {
      return parse_matrix_suffix(name, info, suffix);
    }
    if (info.op == TN_OP_CAST && suffix == "bits") return TN_CAST_BITS;
    if (!suffix.empty() || name.text.ends_with('.')) fail_at(name, "an op without a suffix");
    return 0;
  }

  /// "1" of a multiply or copy, "1.a" or "1.a.transposed.lines" of a load or store.
  static uint64_t parse_matrix_suffix(const Token& name, const OpInfo& info,
                                      std::string_view suffix) {
    uint32_t number = 0;
    const char* end = suffix.data() + suffix.size();
    const auto [at, code] = std::from_chars(suffix.data(), end, number);
    if (code != std::errc()) fail_at(name, "a number after the op and a dot");
    std::string_view rest(at, static_cast<size_t>(end - at));
    if (info.op == TN_OP_MATRIX_MULTIPLY || info.op == TN_OP_ASYNC_COPY) {
      if (!rest.empty()) fail_at(name, "a number alone after the op and a dot");
      return number;
    }
    const auto take = [&](std::string_view word, uint64_t bit) {
      if (!rest.ends_with(word)) return uint64_t{0};
      rest.remove_suffix(word.size());
      return bit;
    };
    uint64_t layout = take(".lines", TN_MATRIX_LINES);
    layout |= take(".transposed", TN_MATRIX_TRANSPOSED);
    const auto* role = words::find(words::kRoles, rest.substr(std::min<size_t>(1, rest.size())));
    if (!rest.starts_with('.') || !role) fail_at(name, "an atom and role as matrix_load.1.a");
    return number | uint64_t{role->value} << 32 | layout;
  }

  void parse_loop(const Token& label) {
    const Token at = lexer_.peek();
    const std::vector<Value> bounds = take_values();
    if (bounds.size() != 3) fail_at(at, "begin, end and step");
    const uint32_t flags = take_flags(words::kFlags);
    const Token type_at = lexer_.peek();
    const ParsedType type = take_type();
    if (type.lanes != 1 || builder_.at(bounds[0]).dtype != type.dtype) {
      fail_at(type_at, fmt::format("the type of %{}", at.text));
    }
    expect_mark("{");
    expect_newline();
    std::vector<Token> labels;
    std::vector<Value> initial;
    // A carry is recognised by its third token. parse_body handles all other lines.
    for (Lexer ahead = lexer_;; ahead = lexer_) {
      while (ahead.peek().kind == Kind::kNewline) ahead.next();
      const Token name = ahead.next();
      if (name.kind != Kind::kValue || ahead.next().text != "=" || ahead.next().text != "carry") {
        break;
      }
      lexer_ = ahead;
      labels.push_back(name);
      initial.push_back(take_value());
      const Token carry_at = lexer_.peek();
      const ParsedType carry = take_type();
      const tn_op& from = builder_.at(initial.back());
      if (from.dtype != carry.dtype || from.lanes != carry.lanes) {
        fail_at(carry_at, "the type of the initial value");
      }
      expect_newline();
      if (labels.size() > UINT16_MAX - 3) fail_at(carry_at, "fewer carries");
    }
    const Value loop = builder_.begin_loop(bounds[0], bounds[1], bounds[2], initial, flags);
    define(label, loop);
    for (size_t k = 0; k < labels.size(); ++k) {
      op_tokens_.push_back(labels[k]);
      define(labels[k], loop + 1 + static_cast<Value>(k));
    }
  }

  /// Verifies. Errors refer to the line of the op.
  Program finish(const Token& name) {
    Program program = builder_.finish();
    const std::string error = verify_program(program.get(), program.size());
    if (error.empty()) return program;
    Token at = name;
    if (error.starts_with("op ")) {
      uint32_t op = 0;
      verify_ops(program.view(), &op);
      if (op < op_tokens_.size()) at = op_tokens_[op];
    }
    throw TextError{at.position, error};
  }

  Lexer lexer_;
  ProgramBuilder builder_{""};
  std::unordered_map<std::string_view, Value> values_;
  std::vector<Token> op_tokens_;  ///< of each op
  std::vector<Value> end_operands_;
};

}  // namespace

Program parse_program(std::string_view text, std::string& error) {
  error.clear();
  try {
    if (text.size() > kMaxProgramBytes) {
      throw TextError{0, fmt::format("expected at most {} bytes", kMaxProgramBytes)};
    }
    return Parser(text).run();
  } catch (const TextError& e) {
    const Place at = Scanner(text).place(e.position);
    error = fmt::format("line {}, column {}: {}", at.line, at.column, e.message);
    return {};
  }
}

}  // namespace tenon::sdk
