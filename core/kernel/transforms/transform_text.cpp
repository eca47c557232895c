// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of transform lists, by the table of transforms.
#include <algorithm>

#include "core/kernel/transforms/transform.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon {
namespace {

using enum TransformArgument;

constexpr TransformInfo kTransforms[] = {
#define TN_TRANSFORM(name, word, old_word, weight, ...) \
  {TransformKind::k##name, #word, old_word, weight, {__VA_ARGS__}},
#include "core/kernel/transforms/transforms.def"
};

}  // namespace

std::span<const TransformInfo> all_transforms() { return kTransforms; }

const TransformInfo& transform_info(TransformKind kind) {
  return kTransforms[static_cast<size_t>(kind)];
}

const TransformInfo* find_transform(std::string_view word) {
  if (word.empty()) return nullptr;
  const auto row = std::ranges::find_if(kTransforms, [&](const TransformInfo& info) {
    return info.word == word || info.old_word == word;
  });
  return row == std::end(kTransforms) ? nullptr : row;
}

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text, {.spaces = " \n\t\r"}) {}

  TransformList parse() {
    TransformList list;
    for (;;) {
      while (scanner_.accept(";")) {
      }
      if (scanner_.at_end()) return list;
      list.push_back(one());
    }
  }

 private:
  [[noreturn]] void mistake(std::string_view expected, std::string_view got) const {
    fail(ErrorKind::kInvalid, "[transform] column {}: expected {}, got {}", start_ + 1, expected,
         got.empty() ? std::string("the end") : "\"" + std::string(got.substr(0, 40)) + "\"");
  }

  std::string_view word() {
    start_ = scanner_.position();
    return scanner_.word(";");
  }

  bool at_end() { return scanner_.at_end() || scanner_.peek(";"); }

  std::string name() {
    const std::string_view w = word();
    const auto is_part = [](char c) { return sdk::is_letter(c) || sdk::is_digit(c) || c == '.'; };
    if (w.empty() || !std::ranges::all_of(w, is_part)) mistake("a name", w);
    return std::string(w);
  }

  int64_t number() {
    const std::string_view w = word();
    const auto value = sdk::number_of<int64_t>(w);
    if (!value || *value < 1 || *value > (1 << 30)) mistake("a number from 1 to 2^30", w);
    return *value;
  }

  Bind place() {
    const std::string_view w = word();
    for (int b = static_cast<int>(Bind::kGridX); b <= static_cast<int>(Bind::kBlockZ); ++b)
      if (w == bind_name(static_cast<Bind>(b))) return static_cast<Bind>(b);
    mistake("grid.x, grid.y, grid.z, block.x, block.y or block.z", w);
  }

  Transform one() {
    const std::string_view verb = word();
    const TransformInfo* info = find_transform(verb);
    if (!info) mistake("a transform", verb);
    Transform t;
    t.kind = info->kind;
    std::string more;  // words that may still come
    for (const TransformArgument argument : info->arguments) {
      const std::string_view optional = word_of(argument);
      if (optional.empty()) {
        add(t, argument);
      } else if (scanner_.peek(optional)) {
        more.clear();
        if (const auto w = word(); w != optional)
          mistake(fmt::format("\"{}\", ';' or the end", optional), w);
        add(t, argument);
      } else {
        more += fmt::format("\"{}\", ", optional);
      }
    }
    if (!at_end()) mistake(more + "';' or the end", word());
    return t;
  }

  /// That an argument which may be left out begins with; empty for others.
  static std::string_view word_of(TransformArgument argument) {
    switch (argument) {
      case kOptionalPad:
        return "pad";
      case kOptionalInner:
        return "inner";
      case kOptionalComputed:
        return "computed";
      case kOptionalLines:
        return "lines";
      case kOptionalSums:
        return "sums";
      case kOptionalAcross:
        return "across";
      default:
        return {};
    }
  }

  void add(Transform& t, TransformArgument argument) {
    switch (argument) {
      case kNone:
        return;
      case kAxis:
      case kFreeAxis:
      case kBuffer:
        t.names.push_back(name());
        return;
      case kMoreAxes:
        while (!at_end()) t.names.push_back(name());
        return;
      case kAt:
        if (const auto at = word(); at != "at") mistake("\"at\"", at);
        return;
      case kPlace:
        t.bind = place();
        return;
      case kFactor:
        t.factor = number();
        return;
      case kOptionalPad:
        t.pad = number();
        return;
      case kOptionalInner:
        t.names.push_back(name());
        return;
      case kOptionalComputed:
        t.computed = true;
        return;
      case kOptionalLines:
        t.lines = true;
        return;
      case kOptionalSums:
        t.sums = true;
        return;
      case kOptionalAcross:
        t.across = number();
        return;
    }
  }

  sdk::Scanner scanner_;
  size_t start_ = 0;  ///< of the last word
};

}  // namespace

namespace {

void print(const Transform& t, std::string& out) {
  const TransformInfo& info = transform_info(t.kind);
  size_t name = 0;
  out += info.word;
  for (const TransformArgument argument : info.arguments) {
    switch (argument) {
      case kNone:
        break;
      case kAxis:
      case kFreeAxis:
      case kBuffer:
        out += " " + t.names[name++];
        break;
      case kMoreAxes:
        while (name < t.names.size()) out += " " + t.names[name++];
        break;
      case kAt:
        out += " at";
        break;
      case kPlace:
        out += " " + std::string(bind_name(t.bind));
        break;
      case kFactor:
        out += " " + std::to_string(t.factor);
        break;
      case kOptionalPad:
        if (t.pad) out += " pad " + std::to_string(t.pad);
        break;
      case kOptionalInner:
        if (name < t.names.size()) out += " inner " + t.names[name++];
        break;
      case kOptionalComputed:
        if (t.computed) out += " computed";
        break;
      case kOptionalLines:
        if (t.lines) out += " lines";
        break;
      case kOptionalSums:
        if (t.sums) out += " sums";
        break;
      case kOptionalAcross:
        if (t.across) out += " across " + std::to_string(t.across);
        break;
    }
  }
}

}  // namespace

std::string print(const TransformList& list) {
  std::string out;
  for (const Transform& t : list) {
    if (!out.empty()) out += "; ";
    print(t, out);
  }
  return out;
}

std::string print(const Chosen& chosen) {
  const std::string list = print(chosen.list);
  return "transforms: " + (list.empty() ? std::string("none") : list) + "\n" + print(chosen.kernel);
}

TransformList parse_transforms(std::string_view text) { return Parser(text).parse(); }

}  // namespace tenon
