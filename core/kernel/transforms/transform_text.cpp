// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of transform lists, from transforms.def.
#include <algorithm>

#include "core/kernel/transforms/fields.hpp"
#include "core/support/error.hpp"
#include "core/support/printable.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon {
namespace {

constexpr TransformInfo kTransforms[] = {
#define TN_AXIS(name)
#define TN_FREE_AXIS(name)
#define TN_AXES(name)
#define TN_BUFFER(name)
#define TN_AT(name)
#define TN_PLACE(name)
#define TN_FACTOR(name)
#define TN_NUMBER(name)
#define TN_INNER(name)
#define TN_WORD(name)
#define TN_TRANSFORM(name, word, weight, ...) {TransformKind::k##name, #word, weight},
#include "core/kernel/transforms/transforms.def"
};

}  // namespace

std::span<const TransformInfo> all_transforms() { return kTransforms; }

const TransformInfo& transform_info(TransformKind kind) {
  return kTransforms[static_cast<size_t>(kind)];
}

const TransformInfo* find_transform(std::string_view word) {
  const auto row = std::ranges::find(kTransforms, word, &TransformInfo::word);
  return row == std::end(kTransforms) ? nullptr : row;
}

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text, {.spaces = " \n\t\r"}) {}

  WrittenTransforms parse() {
    WrittenTransforms list;
    for (;;) {
      while (scanner_.accept(";")) {
      }
      if (scanner_.at_end()) return list;
      if (list.size() == kMostTransforms)
        mistake(fmt::format("at most {} transforms", kMostTransforms), word());
      list.push_back(one());
    }
  }

 private:
  [[noreturn]] void mistake(std::string_view expected, std::string_view got) const {
    fail(ErrorKind::kInvalid, "[transform] column {}: expected {}, got {}", start_ + 1, expected,
         got.empty() ? std::string("the end") : "\"" + shortened_text(got, 40) + "\"");
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

  BufferWay buffer() {
    const std::string_view w = word();
    const size_t dot = w.find('.');
    const auto number_at = [&](size_t begin, size_t length) {
      return sdk::number_of<int>(w.substr(begin, length)).value_or(-1);
    };
    const int number = w.starts_with('b') ? number_at(1, dot - 1) : -1;
    const int way = dot == w.npos ? 0 : number_at(dot + 1, w.npos);
    if (number < 0 || way < 0) mistake("a buffer, as b0 or b0.1", w);
    if (dot == w.npos) return {number, {}};
    return {number, way};
  }

  void expect(std::string_view wanted) {
    if (const auto got = word(); got != wanted) mistake(fmt::format("\"{}\"", wanted), got);
  }

  /// True if an optional field follows, which begins with its name.
  bool begins(std::string_view name) {
    if (!scanner_.peek(name)) {
      more_ += fmt::format("\"{}\", ", name);
      return false;
    }
    more_.clear();
    if (const auto got = word(); got != name)
      mistake(fmt::format("\"{}\", ';' or the end", name), got);
    return true;
  }

  WrittenTransform one() {
    const std::string_view verb = word();
    const TransformInfo* info = find_transform(verb);
    if (!info) mistake("a transform", verb);
    auto out = make_transform<WrittenTransform>(info->kind);
    more_.clear();
    each_field(out, [&](auto kind, std::string_view field, auto& value) {
      using enum FieldKind;
      if constexpr (kind == kAxis || kind == kFreeAxis) {
        value = name();
      } else if constexpr (kind == kAxes) {
        for (int least = 2; least > 0 || !at_end(); --least) value.push_back(name());
      } else if constexpr (kind == kBuffer) {
        value = buffer();
      } else if constexpr (kind == kAt) {
        expect("at");
        value = name();
      } else if constexpr (kind == kPlace) {
        value = place();
      } else if constexpr (kind == kFactor) {
        value = number();
      } else if constexpr (kind == kNumber) {
        if (begins(field)) value = number();
      } else if constexpr (kind == kInner) {
        if (begins(field)) value = name();
      } else {
        value = begins(field);
      }
    });
    if (!at_end()) mistake(more_ + "';' or the end", word());
    return out;
  }

  sdk::Scanner scanner_;
  size_t start_ = 0;  ///< of the last word
  std::string more_;  ///< optional words that may follow, for messages
};

std::string text_of(const WrittenTransform& t) {
  std::string out(transform_info(kind_of(t)).word);
  each_field(t, [&](auto kind, std::string_view field, const auto& value) {
    using enum FieldKind;
    if constexpr (kind == kAxis || kind == kFreeAxis) {
      out += " " + value;
    } else if constexpr (kind == kAxes) {
      for (const std::string& axis : value) out += " " + axis;
    } else if constexpr (kind == kBuffer) {
      out += fmt::format(" b{}", value.buffer);
      if (value.way) out += fmt::format(".{}", *value.way);
    } else if constexpr (kind == kAt) {
      out += " at " + value;
    } else if constexpr (kind == kPlace) {
      out += fmt::format(" {}", bind_name(value));
    } else if constexpr (kind == kFactor) {
      out += fmt::format(" {}", value);
    } else if constexpr (kind == kNumber) {
      if (value) out += fmt::format(" {} {}", field, value);
    } else if constexpr (kind == kInner) {
      if (value) out += fmt::format(" {} {}", field, *value);
    } else {
      if (value) out += fmt::format(" {}", field);
    }
  });
  return out;
}

}  // namespace

std::string print(const WrittenTransforms& list) {
  std::string out;
  for (const WrittenTransform& t : list) out += (out.empty() ? "" : "; ") + text_of(t);
  return out;
}

std::string print(const Kernel& kernel, const TransformList& list) {
  return print(written(kernel, list));
}

std::string list_text(const Chosen& chosen) { return print(chosen.kernel, chosen.list); }

std::string print(const Chosen& chosen) {
  const std::string list = list_text(chosen);
  return "transforms: " + (list.empty() ? std::string("none") : list) + "\n" + print(chosen.kernel);
}

WrittenTransforms parse_transforms(std::string_view text) { return Parser(text).parse(); }

}  // namespace tenon
