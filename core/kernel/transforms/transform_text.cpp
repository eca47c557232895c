// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of transform lists.
#include <algorithm>

#include "core/kernel/transforms/transform.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon {
namespace {

struct Row {
  TransformKind kind;
  std::string_view word;
  int min_names, max_names;
  bool factor;
};

constexpr Row kRows[] = {
    {TransformKind::kSplit, "split", 1, 1, true},
    {TransformKind::kMerge, "merge", 2, 2, false},
    {TransformKind::kPermute, "permute", 2, 64, false},
    {TransformKind::kPad, "pad", 1, 1, true},
    {TransformKind::kUnroll, "unroll", 1, 1, false},
    {TransformKind::kVectorize, "vectorize", 1, 1, false},
    {TransformKind::kBind, "bind", 1, 1, false},
    {TransformKind::kGroup, "group", 1, 1, true},
    {TransformKind::kStage, "stage", 2, 2, false},
    {TransformKind::kKeep, "keep", 2, 2, false},
    {TransformKind::kTensorize, "tensorize", 3, 3, true},
    {TransformKind::kPipeline, "pipeline", 1, 1, true},
};

const Row& row_of(TransformKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return row;
  TN_ASSERT(false);
}

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
      if (!at_end()) mistake("';' or the end", word());
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
    for (const Row& row : kRows) {
      if (row.word != verb) continue;
      Transform t;
      t.kind = row.kind;
      t.names.push_back(name());
      if (t.kind == TransformKind::kStage) {
        if (const auto at = word(); at != "at") mistake("\"at\"", at);
      }
      while (static_cast<int>(t.names.size()) < row.max_names &&
             (static_cast<int>(t.names.size()) < row.min_names || !at_end()))
        t.names.push_back(name());
      if (row.factor) t.factor = number();
      if (t.kind == TransformKind::kStage && !at_end()) {
        if (const auto pad = word(); pad != "pad") mistake("\"pad\", ';' or the end", pad);
        t.factor = number();
      }
      if (t.kind == TransformKind::kBind) t.bind = place();
      return t;
    }
    mistake("a transform", verb);
  }

  sdk::Scanner scanner_;
  size_t start_ = 0;  ///< of the last word
};

}  // namespace

std::string print(const TransformList& list) {
  std::string out;
  for (const Transform& t : list) {
    const Row& row = row_of(t.kind);
    if (!out.empty()) out += "; ";
    out += row.word;
    for (size_t i = 0; i < t.names.size(); ++i) {
      out += t.kind == TransformKind::kStage && i == 1 ? " at " : " ";
      out += t.names[i];
    }
    if (row.factor) out += " " + std::to_string(t.factor);
    if (t.kind == TransformKind::kStage && t.factor) out += " pad " + std::to_string(t.factor);
    if (t.kind == TransformKind::kBind) out += " " + std::string(bind_name(t.bind));
  }
  return out;
}

TransformList parse_transforms(std::string_view text) { return Parser(text).parse(); }

}  // namespace tenon
