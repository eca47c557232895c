// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates WGSL to GLSL, for the subset that the helpers use.
#include <algorithm>
#include <cctype>

#include "sdk/render/shader_helpers.hpp"

namespace tenon::sdk {
namespace {

struct Word {
  std::string_view wgsl, glsl;
};
// A bit cast's source is the float type of the same size, or the unsigned one.
constexpr Word kWords[] = {{"f32", "float"},
                           {"f64", "double"},
                           {"i32", "int"},
                           {"u32", "uint"},
                           {"i64", "int64_t"},
                           {"u64", "uint64_t"},
                           {"bitcast<u32>", "floatBitsToUint"},
                           {"bitcast<i32>", "floatBitsToInt"},
                           {"bitcast<f32>", "uintBitsToFloat"},
                           {"bitcast<u64>", "doubleBitsToUint64"},
                           {"bitcast<f64>", "uint64BitsToDouble"},
                           {"select", "mix"},
                           {"round", "roundEven"}};

bool is_identifier_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Translator {
 public:
  explicit Translator(std::string_view text) : rest_(text) {}

  std::string run() {
    std::string out;
    while (!rest_.empty()) {
      if (!is_identifier_char(rest_[0])) {
        out += rest_[0];
        rest_.remove_prefix(1);
        continue;
      }
      const std::string_view word = take_word();
      if (word == "fn") {
        out += signature();
      } else if (word == "let" || word == "var") {
        out += declaration(true);
      } else {
        out += glsl(word);
      }
    }
    return out;
  }

 private:
  std::string_view take_word() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_identifier_char);
    std::string_view word = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
    rest_.remove_prefix(word.size());
    if (word == "bitcast") {
      word = std::string_view(word.data(), word.size() + rest_.find('>') + 1);
      rest_.remove_prefix(rest_.find('>') + 1);
    }
    return word;
  }
  void skip(std::string_view text) { rest_.remove_prefix(rest_.find(text) + text.size()); }

  static std::string_view glsl(std::string_view word) {
    const auto at = std::ranges::find(kWords, word, &Word::wgsl);
    return at == std::end(kWords) ? word : at->glsl;
  }

  /// `name: type` as `type name`. Computed floats get `precise`, which forbids contraction.
  std::string declaration(bool is_local) {
    while (!is_identifier_char(rest_[0])) rest_.remove_prefix(1);
    const std::string_view name = take_word();
    skip(": ");
    const std::string_view type = take_word();
    const bool is_float = type == "f32" || type == "f64";
    return (is_local && is_float ? "precise " : "") + std::string(glsl(type)) + " " +
           std::string(name);
  }

  /// Translates from after `fn` to before the brace.
  std::string signature() {
    skip(" ");
    const std::string name(take_word());
    std::string parameters;
    skip("(");
    while (rest_[0] != ')') {
      if (!parameters.empty()) parameters += ", ";
      parameters += declaration(false);
      if (rest_[0] == ',') skip(", ");
    }
    skip("-> ");
    return std::string(glsl(take_word())) + " " + name + "(" + parameters + ")";
  }

  std::string_view rest_;
};

}  // namespace

std::string glsl_from_wgsl(std::string_view text) { return Translator(text).run(); }

}  // namespace tenon::sdk
