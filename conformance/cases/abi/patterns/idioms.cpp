// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of idioms.def: threads that compute one idiom on boundary values, or on those and any
// others, with a few sets of constants.
#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"
#include "conformance/cases/graphs/boundary_values.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr int64_t kIdiomThreads = 24;
constexpr int kConstantSets = 4;
constexpr uint64_t kShiftCounts = 7;
/// Of four in a row one is near the 24 bits of a float or of a fast multiplier.
constexpr int64_t kPowers[] = {8, 16, 24, 7, 15, 31, 23, 32};
constexpr size_t kIdiomsTogether = 3;  ///< in one program

struct IdiomRow {
  std::string_view name, words;
};
constexpr IdiomRow kIdioms[] = {
#define TN_IDIOM(name, words) {#name, words},
#include "conformance/cases/abi/patterns/idioms.def"
};

struct CastRow {
  std::string_view word;
  tn_dtype from, to;
};
constexpr CastRow kIdiomCasts[] = {
    {"wide", TN_DTYPE_BOOL, TN_DTYPE_I32},  {"wide", TN_DTYPE_I8, TN_DTYPE_I32},
    {"wide", TN_DTYPE_U8, TN_DTYPE_I32},    {"wide", TN_DTYPE_I16, TN_DTYPE_I32},
    {"wide", TN_DTYPE_U16, TN_DTYPE_U32},   {"wide", TN_DTYPE_I32, TN_DTYPE_I64},
    {"wide", TN_DTYPE_U32, TN_DTYPE_I64},   {"wide", TN_DTYPE_F16, TN_DTYPE_F32},
    {"wide", TN_DTYPE_BF16, TN_DTYPE_F32},  {"wide", TN_DTYPE_F32, TN_DTYPE_F64},
    {"narrow", TN_DTYPE_I16, TN_DTYPE_I8},  {"narrow", TN_DTYPE_U16, TN_DTYPE_U8},
    {"narrow", TN_DTYPE_I32, TN_DTYPE_I8},  {"narrow", TN_DTYPE_U32, TN_DTYPE_U16},
    {"narrow", TN_DTYPE_I64, TN_DTYPE_I32}, {"narrow", TN_DTYPE_U64, TN_DTYPE_U32},
    {"narrow", TN_DTYPE_F32, TN_DTYPE_F16}, {"narrow", TN_DTYPE_F64, TN_DTYPE_F32},
    {"other", TN_DTYPE_I8, TN_DTYPE_U8},    {"other", TN_DTYPE_U8, TN_DTYPE_I8},
    {"other", TN_DTYPE_I16, TN_DTYPE_U16},  {"other", TN_DTYPE_U16, TN_DTYPE_I16},
    {"other", TN_DTYPE_I32, TN_DTYPE_U32},  {"other", TN_DTYPE_U32, TN_DTYPE_I32},
    {"other", TN_DTYPE_I64, TN_DTYPE_U64},  {"other", TN_DTYPE_U64, TN_DTYPE_I64},
    {"int", TN_DTYPE_F16, TN_DTYPE_I16},    {"int", TN_DTYPE_BF16, TN_DTYPE_I32},
    {"int", TN_DTYPE_F32, TN_DTYPE_I32},    {"int", TN_DTYPE_F64, TN_DTYPE_I64},
    {"uint", TN_DTYPE_F16, TN_DTYPE_U8},    {"uint", TN_DTYPE_F32, TN_DTYPE_U32},
    {"uint", TN_DTYPE_F64, TN_DTYPE_U64},   {"float", TN_DTYPE_I8, TN_DTYPE_F16},
    {"float", TN_DTYPE_I16, TN_DTYPE_F32},  {"float", TN_DTYPE_I32, TN_DTYPE_F32},
    {"float", TN_DTYPE_U32, TN_DTYPE_F32},  {"float", TN_DTYPE_I64, TN_DTYPE_F64},
    {"float", TN_DTYPE_U64, TN_DTYPE_F64},  {"float", TN_DTYPE_BOOL, TN_DTYPE_F32},
    {"unlike", TN_DTYPE_I8, TN_DTYPE_U32},  {"unlike", TN_DTYPE_U8, TN_DTYPE_I16},
    {"unlike", TN_DTYPE_I16, TN_DTYPE_U32}, {"unlike", TN_DTYPE_U16, TN_DTYPE_I32},
    {"unlike", TN_DTYPE_I32, TN_DTYPE_U64}, {"unlike", TN_DTYPE_U32, TN_DTYPE_U64},
    {"unlike", TN_DTYPE_I64, TN_DTYPE_U32}, {"unlike", TN_DTYPE_U64, TN_DTYPE_I32},
    {"byte", TN_DTYPE_I16, TN_DTYPE_I8},    {"byte", TN_DTYPE_U16, TN_DTYPE_U8},
    {"byte", TN_DTYPE_I32, TN_DTYPE_I8},    {"byte", TN_DTYPE_U32, TN_DTYPE_U8},
    {"byte", TN_DTYPE_I64, TN_DTYPE_I8},    {"byte", TN_DTYPE_U64, TN_DTYPE_U8},
    {"byte", TN_DTYPE_F32, TN_DTYPE_I8},    {"byte", TN_DTYPE_F64, TN_DTYPE_U8},
    {"bits", TN_DTYPE_F16, TN_DTYPE_I16},   {"bits", TN_DTYPE_BF16, TN_DTYPE_I16},
    {"bits", TN_DTYPE_F32, TN_DTYPE_I32},   {"bits", TN_DTYPE_F64, TN_DTYPE_I64},
};

const sdk::OpInfo* find_idiom_op(std::string_view text) {
  for (const sdk::OpInfo& op : sdk::all_ops())
    if (op.text == text && sdk::is_elementwise(op) && op.op != TN_OP_CAST) return &op;
  return nullptr;
}

int64_t idiom_bits(tn_dtype dtype) {
  return int64_t{8} * sdk::dtype_bytes(static_cast<uint8_t>(dtype));
}

class IdiomProgram {
 public:
  IdiomProgram(Choices& choices, std::vector<IdiomRow> rows, tn_dtype dtype)
      : choices_(choices), rows_(std::move(rows)), dtype_(dtype), kit_("idioms") {}

  /// Whether every op and cast of a row takes the dtype.
  static bool takes(const IdiomRow& row, tn_dtype dtype) {
    Choices zeros(std::vector<uint64_t>{});
    return IdiomProgram(zeros, {row}, dtype).result_dtype(row).has_value();
  }

  SequenceStep draw() {
    constexpr uint16_t kWidths[] = {4, 2, 8, 3, 16};
    if (choices_.chance(35))
      lanes_ = choices_.chance(50) ? lanes_of_register() : choices_.pick(kWidths);
    first_count_ = choices_.below(kShiftCounts);
    takes_usual_powers_ = choices_.chance(70);
    first_power_ = choices_.below(std::size(kPowers));
    in_words_ = choices_.chance(40);
    const int64_t seed = choices_.between(1, 99);
    const tn_dtype in = stored(dtype_);
    const int64_t count = kIdiomThreads * lanes_;
    const std::string kind = choices_.chance(40) ? "mixed_" : "edge_";
    const Value a = kit_.builder.buffer(kind + "a", in, TN_ACCESS_READ, uint64_t(count));
    const Value b = kit_.builder.buffer(kind + "b", in, TN_ACCESS_READ, uint64_t(count));
    std::vector<Value> outs;
    for (const IdiomRow& row : rows_)
      outs.push_back(kit_.builder.buffer("out_" + std::string(row.name), stored(*result_dtype(row)),
                                         TN_ACCESS_READ | TN_ACCESS_WRITE,
                                         uint64_t(count * kConstantSets)));
    const Value thread = kit_.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    const Value first = kit_.times(thread, kit_.whole(lanes_));
    x_ = as_dtype(kit_.load(a, first, lanes_), dtype_);
    y_ = as_dtype(kit_.load(b, first, lanes_), dtype_);
    for (size_t r = 0; r < rows_.size(); ++r)
      for (int set = 0; set < kConstantSets; ++set) {
        drawn_.clear();
        set_ = static_cast<uint64_t>(set);
        const Value value = as_dtype(*compute(rows_[r]), dtype_of(outs[r]));
        kit_.store(outs[r], kit_.plus(first, kit_.whole(set * count)), value);
      }
    return kit_.step(kIdiomThreads, seed);
  }

 private:
  using Value = ProgramKit::Value;

  /// As many of the narrowest value as fill 128 bits.
  uint16_t lanes_of_register() const {
    constexpr uint32_t kBytes = 16;
    uint32_t narrowest = sdk::dtype_bytes(static_cast<uint8_t>(dtype_));
    for (const IdiomRow& row : rows_)
      narrowest = std::min(narrowest, sdk::dtype_bytes(static_cast<uint8_t>(*result_dtype(row))));
    return static_cast<uint16_t>(kBytes / narrowest);
  }
  tn_dtype stored(tn_dtype dtype) const {
    return in_words_ ? ProgramKit::wide_of(static_cast<uint8_t>(dtype)) : dtype;
  }
  tn_dtype dtype_of(Value value) const {
    return static_cast<tn_dtype>(kit_.builder.at(value).dtype);
  }
  Value as_dtype(Value value, tn_dtype to) {
    return dtype_of(value) == to ? value : kit_.cast(value, to);
  }

  /// Found by a dry run. Nothing where an op or a cast does not take the dtype.
  std::optional<tn_dtype> result_dtype(const IdiomRow& row) const {
    Choices zeros(std::vector<uint64_t>{});
    IdiomProgram trial(zeros, {row}, dtype_);
    trial.x_ = trial.y_ = trial.kit_.number(dtype_, 1);
    const std::optional<Value> value = trial.compute(row);
    if (!value) return {};
    return trial.dtype_of(*value);
  }

  std::optional<Value> compute(const IdiomRow& row) {
    std::vector<Value> stack;
    std::istringstream words{std::string(row.words)};
    for (std::string word; words >> word;)
      if (!take(word, stack)) return {};
    return stack.size() == 1 ? std::optional(stack[0]) : std::nullopt;
  }

  bool take(const std::string& word, std::vector<Value>& stack) {
    if (word == "x" || word == "y") {
      stack.push_back(word == "x" ? x_ : y_);
      return true;
    }
    if (word == "not") return apply(*find_idiom_op("xor"), stack, true);
    if (const sdk::OpInfo* op = find_idiom_op(word)) return apply(*op, stack, false);
    const tn_dtype now = stack.empty() ? dtype_ : dtype_of(stack.back());
    if (word == "same") {
      stack.back() = as_dtype(stack.back(), dtype_);
      return true;
    }
    for (const CastRow& row : kIdiomCasts) {
      if (row.word != word) continue;
      if (row.from != now) continue;
      stack.back() = kit_.cast(stack.back(), row.to, word == "bits" ? TN_CAST_BITS : TN_CAST_VALUE);
      return true;
    }
    const std::optional<uint64_t> bits = constant(word, now);
    if (!bits) return false;
    stack.push_back(kit_.builder.constant(now, *bits, lanes_));
    return true;
  }

  bool apply(const sdk::OpInfo& op, std::vector<Value>& stack, bool negates) {
    if (negates) stack.push_back(kit_.number(TN_DTYPE_BOOL, 1, lanes_));
    const auto arity = static_cast<size_t>(op.arity);
    if (stack.size() < arity) return false;
    const std::vector<Value> operands(stack.end() - static_cast<std::ptrdiff_t>(arity),
                                      stack.end());
    stack.resize(stack.size() - arity);
    const tn_dtype from = dtype_of(operands.back());
    for (size_t k = op.op == TN_OP_WHERE ? 1 : 0; k < arity; ++k)
      if (dtype_of(operands[k]) != from) return false;
    if (!sdk::takes(op.types, static_cast<uint8_t>(from))) return false;
    const bool compares = op.kind == sdk::OpKind::COMPARE;
    stack.push_back(kit_.builder.op(static_cast<tn_opcode>(op.op), compares ? TN_DTYPE_BOOL : from,
                                    lanes_, operands));
    return true;
  }

  /// The same for each use of the word in a set.
  std::optional<uint64_t> constant(const std::string& word, tn_dtype dtype) {
    const auto key = std::pair(word, dtype);
    if (const auto found = drawn_.find(key); found != drawn_.end()) return found->second;
    const std::optional<uint64_t> bits = draw_constant(word, dtype);
    if (bits) drawn_[key] = *bits;
    return bits;
  }

  std::optional<uint64_t> draw_constant(const std::string& word, tn_dtype dtype) {
    const auto code = static_cast<uint8_t>(dtype);
    const bool is_float = sdk::is_float(code), is_whole = sdk::is_integer(code);
    const auto number = [&](int64_t value) {
      return convert(static_cast<uint64_t>(value), TN_DTYPE_I64, code);
    };
    const int64_t bits = idiom_bits(dtype), places = bits - (sdk::is_signed(code) ? 2 : 1);
    if (word == "0") return number(0);
    if (word == "1") return number(1);
    if (word == "-1") {
      if (dtype == TN_DTYPE_BOOL) return 1;
      return number(-1);
    }
    if (word == "-0") return is_float ? std::optional(from_double(-0.0, code)) : std::nullopt;
    if (word == "c" || word == "d")
      return choices_.pick(graphs::boundary_values(static_cast<DType>(dtype)));
    if (!is_whole) return {};
    if (word == "m") return sdk::is_signed(code) ? uint64_t{1} << (bits - 1) : uint64_t{0};
    if (word == "k" || word == "j") {
      const int64_t counts[kShiftCounts] = {1, bits - 1, 3, bits / 4 * 3, bits, bits / 2, 0};
      return number(counts[word == "k" ? (first_count_ + set_) % kShiftCounts
                                       : choices_.below(kShiftCounts)]);
    }
    if (word == "K") return number(bits - static_cast<int64_t>(*constant("k", dtype)));
    if (word == "B") return number(bits - 1);
    if (word == "S") return number(idiom_bits(dtype_));
    if (word == "p") {
      const int64_t power = takes_usual_powers_
                                ? kPowers[(first_power_ + set_) % std::size(kPowers)]
                                : choices_.between(1, places);
      return uint64_t{1} << std::min(power, places);
    }
    if (word == "q") return *constant("p", dtype) - 1;
    if (word == "l") {
      const uint64_t half = uint64_t{1} << (bits - (sdk::is_signed(code) ? 2 : 1));
      return half + choices_.below(half);
    }
    return {};
  }

  Choices& choices_;
  const std::vector<IdiomRow> rows_;
  const tn_dtype dtype_;
  ProgramKit kit_;
  uint16_t lanes_ = 1;
  uint64_t first_count_ = 0, first_power_ = 0, set_ = 0;  ///< k and p are others in each set
  bool takes_usual_powers_ = false;
  bool in_words_ = false;  ///< memory has no elements below 32 bits
  Value x_ = 0, y_ = 0;
  std::map<std::pair<std::string, tn_dtype>, uint64_t> drawn_;
};

}  // namespace

std::vector<Pattern> idiom_patterns() {
  std::vector<Pattern> out;
  for (const sdk::DTypeInfo& info : sdk::all_dtypes()) {
    const auto dtype = static_cast<tn_dtype>(info.dtype);
    if (sdk::is_float(info.dtype) && sdk::dtype_bytes(info.dtype) == 1) continue;
    std::vector<IdiomRow> rows;
    for (const IdiomRow& row : kIdioms)
      if (IdiomProgram::takes(row, dtype)) rows.push_back(row);
    // Neighbours in the table need the same optional ops, more or less.
    for (size_t begin = 0; begin < rows.size(); begin += kIdiomsTogether) {
      const size_t end = std::min(begin + kIdiomsTogether, rows.size());
      const std::vector<IdiomRow> some(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                       rows.begin() + static_cast<std::ptrdiff_t>(end));
      std::string name;
      for (const IdiomRow& row : some) name += (name.empty() ? "" : ", ") + std::string(row.name);
      out.push_back({"idioms", name, [some, dtype](Choices& choices) {
                       return DrawnPattern{{IdiomProgram(choices, some, dtype).draw()}, dtype};
                     }});
    }
  }
  return out;
}

}  // namespace tenon::conformance::abi
