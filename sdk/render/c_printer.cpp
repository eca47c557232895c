// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars become variables, vectors arrays of lanes, carries mutable variables, masks guards.
// Scalar constants are printed where they are used.
#include "sdk/render/c_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sdk/program/op_info.hpp"
#include "sdk/render/stored_regions.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

class SourcePrinter {
 public:
  SourcePrinter(const ProgramView& program, const Dialect& dialect)
      : program_(program),
        dialect_(dialect),
        data_(dialect.data()),
        is_fused_(program.op_count()),
        is_array_(program.op_count()) {
    find_arrays();
    if (data_.contracts) find_fused();
  }

  std::string run() {
    out_ = dialect_.header(program_);
    const auto places = allocation_places(program_);
    for (uint32_t i = 0; i < program_.param_count(); ++i) {
      const tn_param& param = program_.param(i);
      if (param.kind == TN_PARAM_ALLOC) line(dialect_.allocation(program_, param, places[i]));
    }
    for (uint32_t i = 0; i < program_.op_count(); ++i) print(i, program_.op(i));
    out_ += dialect_.footer(program_);
    return dialect_.prelude(program_, out_) + out_;
  }

 private:
  /// Prints lines of text, perhaps none.
  void line(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      out_.append(depth_ * 2, ' ').append(text.substr(0, end)).push_back('\n');
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  [[noreturn]] void refuse(const tn_op& op) const {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("{}: has no words for {}", data_.name, op_text(op.op)));
  }

  // ---- Products that are printed only inside their sums ----
  /// The operand of a sum that is a product to fuse with it, or kNone.
  static constexpr uint32_t kNone = ~0u;
  uint32_t product_of(const tn_op& op) const {
    const bool is_real = op.dtype == TN_DTYPE_F32 || op.dtype == TN_DTYPE_F64;
    if (op.op != TN_OP_ADD || !(op.flags & TN_OP_CONTRACT)) return kNone;
    if (!is_real || !data_.contracts) return kNone;
    for (uint32_t operand : program_.operands(op)) {
      if (program_.op(operand).op == TN_OP_MUL) return operand;
    }
    return kNone;
  }
  void find_fused() {
    std::vector<bool> is_used(program_.op_count());
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const uint32_t product = product_of(program_.op(i));
      if (product != kNone) is_fused_[product] = true;
      bool is_first = true;  // x*y + x*y fuses one of them
      for (uint32_t operand : program_.operands(program_.op(i))) {
        if (operand != product || !is_first) is_used[operand] = true;
        if (operand == product) is_first = false;
      }
    }
    for (uint32_t i = 0; i < program_.op_count(); ++i) is_fused_[i] = is_fused_[i] && !is_used[i];
  }
  std::string sum(const tn_op& op, uint32_t product) const {
    const auto operands = program_.operands(op);
    const auto factors = program_.operands(program_.op(product));
    const uint32_t other = operands[0] == product ? operands[1] : operands[0];
    const std::string all[] = {lane(factors[0]), lane(factors[1]), lane(other)};
    return dialect_.spell(TN_OP_FMA, op.dtype, all);
  }

  /// Finds constants that are used as an array, not lane by lane.
  void find_arrays() {
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const tn_op& op = program_.op(i);
      const bool takes_lanes =
          (is_elementwise(*op_info(op.op)) && dialect_.fragment_type(i).empty()) ||
          op.op == TN_OP_TAKE || op.op == TN_OP_EXTRACT || op.op == TN_OP_LANE_REDUCE;
      for (uint32_t operand : program_.operands(op))
        if (!takes_lanes) is_array_[operand] = true;
    }
  }

  // ---- Names ----
  std::string name(uint32_t value) const {
    const tn_op& op = program_.op(value);
    if (op.op == TN_OP_CONST && op.lanes == 1) return constant(value);
    if (op.op != TN_OP_PARAM) return Dialect::value_name(value);
    return Dialect::param_name(program_, program_.param(static_cast<uint32_t>(op.imm)));
  }
  std::string constant(uint32_t value) const {
    return of_constants_ == kNone ? literal(program_.op(value))
                                  : fmt::format("c{}_{}", of_constants_, value);
  }
  std::string literal(const tn_op& op) const {
    const std::string text = dialect_.literal(op.imm, op.dtype);
    return text.starts_with('-') ? "(" + text + ")" : text;
  }
  /// The current lane, or this one. A value of one lane is used for all.
  std::string lane(uint32_t value) const { return lane(value, lane_); }
  std::string lane(uint32_t value, std::string_view index) const {
    if (program_.op(value).op == TN_OP_CONST) return constant(value);
    return program_.op(value).lanes > 1 ? fmt::format("{}[{}]", name(value), index) : name(value);
  }
  /// A lane to be copied into another value, hidden from constant folding.
  std::string moved_lane(uint32_t value, std::string_view index) const {
    const tn_op& op = program_.op(value);
    const std::string text = lane(value, index);
    return op.op == TN_OP_CONST && is_float(op.dtype) ? dialect_.materialised(op, text) : text;
  }
  std::vector<std::string> names(std::span<const uint32_t> values) const {
    std::vector<std::string> out;
    for (uint32_t value : values) out.push_back(name(value));
    return out;
  }
  std::string_view type(const tn_op& op) const { return dialect_.value_type(op.dtype); }

  void declare(const tn_op& of, const std::string& name) { line(dialect_.declare(of, name)); }
  /// Defines a value by an expression for each lane.
  template <class Expression>
  void define(uint32_t i, const Expression& expression) {
    const tn_op& op = program_.op(i);
    const std::string name = fmt::format("v{}", i);
    if (op.lanes == 1)
      return line(dialect_.define(op, name, dialect_.materialised(op, expression())));
    declare(op, name);
    each_lane(op.lanes, [&] {
      return fmt::format("{}[{}] = {};", name, lane_, dialect_.materialised(op, expression()));
    });
  }
  /// Prints a statement for each lane.
  template <class Statement>
  void each_lane(uint32_t count, const Statement& statement) {
    if (count == 1) return line(statement());
    if (!data_.lane_loop.empty())
      return line(fill_pattern(data_.lane_loop, {std::to_string(count), statement()}));
    for (uint32_t k = 0; k < count; ++k) {
      lane_ = std::to_string(k);
      line(statement());
    }
    lane_ = "l";
  }

  // ---- Expressions ----
  /// Whether a float op is computed in a wider dtype and rounded once.
  bool is_wide(uint16_t op, uint8_t dtype) const {
    if (!is_float(dtype) || dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64) return false;
    return !dialect_.computes(op, dtype);
  }

  std::string compute(uint16_t op, uint8_t from, uint8_t to,
                      std::vector<std::string> operands) const {
    const bool moves = op == TN_OP_WHERE;
    if (moves || !is_wide(op, from)) return dialect_.spell(op, from, operands);
    const uint8_t wide = data_.wide_float;
    for (std::string& operand : operands) operand = dialect_.cast(operand, from, wide);
    if (op == TN_OP_FMA) {  // rounding in the wide dtype and again would round twice
      return dialect_.cast(
          fmt::format("tn_fma_odd({}, {}, {})", operands[0], operands[1], operands[2]), wide, to);
    }
    const std::string value = "(" + dialect_.spell(op, wide, operands) + ")";
    return to == TN_DTYPE_BOOL ? value : dialect_.cast(value, wide, to);
  }

  std::vector<std::string> lanes_of(std::span<const uint32_t> operands) const {
    std::vector<std::string> out;
    for (uint32_t operand : operands) out.push_back(lane(operand));
    return out;
  }

  std::string elementwise(const tn_op& op) const {
    const auto operands = program_.operands(op);
    const uint32_t product = product_of(op);
    if (product != kNone) return sum(op, product);
    const bool is_plain = data_.has_plain_integers && (op.flags & TN_OP_NO_WRAP) &&
                          (op.dtype == TN_DTYPE_I32 || op.dtype == TN_DTYPE_I64);
    if (is_plain) {
      const char sign = op.op == TN_OP_ADD ? '+' : op.op == TN_OP_SUB ? '-' : '*';
      return fmt::format("{} {} {}", lane(operands[0]), sign, lane(operands[1]));
    }
    const uint8_t from = program_.op(operands.back()).dtype;
    if (op.flags & TN_OP_APPROXIMATE)
      if (std::string fast = dialect_.spell_approximate(op.op, from, lanes_of(operands));
          !fast.empty())
        return fast;
    if (op.op != TN_OP_CAST) return compute(op.op, from, op.dtype, lanes_of(operands));
    const std::string value = lane(operands[0]);
    return op.imm == TN_CAST_BITS ? dialect_.bit_cast(value, from, op.dtype)
                                  : dialect_.cast(value, from, op.dtype);
  }

  // ---- Statements ----
  void print(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    if (is_elementwise(*op_info(op.op))) {
      if (dialect_.fragment_type(i).empty()) return print_elementwise(i, op);
      return line(dialect_.statement(program_, op, name(i), names(operands)));
    }
    switch (op.op) {
      case TN_OP_PARAM:
      case TN_OP_CARRY:
        return;  // printed by the header and the loop
      case TN_OP_CONST:
        if (op.lanes > 1 && is_array_[i])
          define(i, [&] { return dialect_.literal(op.imm, op.dtype); });
        return;
      case TN_OP_INDEX:
        return print_index(i, op);
      case TN_OP_TAKE:
        return print_load(i, op);
      case TN_OP_STORE:
        return print_store(op);
      case TN_OP_BROADCAST:
        return define(i, [&] { return moved_lane(operands[0], lane_); });
      case TN_OP_EXTRACT:
        return define(i, [&] { return moved_lane(operands[0], fmt::format("{}", op.imm)); });
      case TN_OP_COMPOSE:
        return print_compose(i, op);
      case TN_OP_LANE_REDUCE:
        return print_reduce(i, op);
      case TN_OP_LOOP:
        stored_.enter(false);
        return print_loop(i, op);
      case TN_OP_IF:
        stored_.enter(true);
        line(fmt::format("if ({}) {{", name(operands[0])));
        ++depth_;
        open_.push_back(i);
        return;
      case TN_OP_ELSE:
        stored_.enter_else();
        --depth_;
        line("} else {");
        ++depth_;
        return;
      case TN_OP_END:
        stored_.leave();
        return print_end(op);
      case TN_OP_BARRIER:
        stored_.barrier();
        return line(dialect_.barrier(program_, op));
      case TN_OP_ATOMIC:
        return define(
            i, [&] { return dialect_.atomic(element(op, 1), names(operands.subspan(2)), op); });
      default:
        return line(dialect_.statement(program_, op, fmt::format("v{}", i), names(operands)));
    }
  }

  void print_elementwise(uint32_t i, const tn_op& op) {
    if (is_fused_[i]) return;
    const bool is_optional = op_info(op.op)->flags & kOpOptional;
    if (is_optional && std::ranges::find(data_.ops, op.op) == data_.ops.end()) refuse(op);
    const auto operands = program_.operands(op);
    const auto is_constant = [&](uint32_t k) { return program_.op(k).op == TN_OP_CONST; };
    if (std::ranges::all_of(operands, is_constant)) {
      // Name the constants, as languages evaluate expressions of literals by other rules, and hide
      // those of which a float comes: a compiler that knows it to be 0 may multiply wrongly by it.
      of_constants_ = i;
      for (uint32_t k : std::set<uint32_t>(operands.begin(), operands.end())) {
        const tn_op& constant = program_.op(k);
        const bool is_hidden = is_float(op.dtype) || is_float(constant.dtype);
        const std::string value = literal(constant);
        line(dialect_.define(constant, this->constant(k),
                             is_hidden ? dialect_.materialised(constant, value) : value));
      }
    }
    define(i, [&] { return elementwise(op); });
    of_constants_ = kNone;
  }

  void print_index(uint32_t i, const tn_op& op) {
    if (op.imm == TN_AXIS_LANE) {
      return define(i, [&] {
        const std::string at = op.lanes > 1 ? lane_ : dialect_.literal(0, TN_DTYPE_I32);
        return dialect_.cast(at, TN_DTYPE_I32, op.dtype);
      });
    }
    const std::string_view index = data_.index[op.imm];
    if (index.empty()) refuse(op);
    define(i, [&] { return dialect_.cast(std::string(index), TN_DTYPE_U32, op.dtype); });
  }

  /// The element of a lane: consecutive from a scalar index, else by the index of the lane.
  Element element(const tn_op& op, uint32_t lanes) const {
    const auto operands = program_.operands(op);
    const tn_op& index = program_.op(operands[1]);
    const bool is_run = lanes > 1 && index.lanes == 1;
    const auto param = static_cast<uint32_t>(program_.op(operands[0]).imm);
    return {program_.param(param), name(operands[0]),
            is_run ? index_of_run(operands[1]) : lane(operands[1]), index.dtype};
  }
  /// The index of an element of a run, folded to one number if it is constant.
  std::string index_of_run(uint32_t first) const {
    const tn_op& index = program_.op(first);
    const bool is_known = index.op == TN_OP_CONST;
    if (is_known && lane_ != "l")
      return dialect_.literal(index.imm + std::stoull(lane_), index.dtype);
    return is_known && index.imm == 0 ? lane_ : name(first) + " + " + lane_;
  }

  /// The argument of load_lanes and store_lanes; empty if they do not apply.
  std::optional<Element> run_of(const tn_op& op, uint32_t lanes, bool is_masked) const {
    const auto operands = program_.operands(op);
    if (lanes == 1 || is_masked || program_.op(operands[1]).lanes > 1) return {};
    Element first = element(op, lanes);
    first.index = name(operands[1]);
    return first;
  }

  void print_load(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    if (const auto run = run_of(op, op.lanes, operands.size() > 2)) {
      const std::string all = dialect_.load_lanes(*run, name(i), op);
      if (!all.empty()) {
        declare(op, name(i));
        return line(all);
      }
    }
    const auto value = [&] { return dialect_.load(element(op, op.lanes), op); };
    if (operands.size() == 2) return define(i, value);
    declare(op, name(i));
    // Not a conditional expression, as a language may evaluate both sides.
    each_lane(op.lanes, [&] {
      const std::string fill =
          operands.size() > 3 ? lane(operands[3]) : dialect_.literal(0, op.dtype);
      return fmt::format("if ({0}) {{ {1} = {2}; }} else {{ {1} = {3}; }}", lane(operands[2]),
                         lane(i), value(), dialect_.fill(op, fill));
    });
  }

  void print_store(const tn_op& op) {
    const auto operands = program_.operands(op);
    const uint32_t lanes = program_.op(operands[2]).lanes;
    const auto param = static_cast<uint32_t>(program_.op(operands[0]).imm);
    const bool follows_store = stored_.follows_store(param, operands.size() > 3);
    if (const auto run = run_of(op, lanes, operands.size() > 3); run && !follows_store) {
      const std::string all = dialect_.store_lanes(*run, name(operands[2]), lanes, op);
      if (!all.empty()) return line(all);
    }
    each_lane(lanes, [&] {
      Element at = element(op, lanes);
      at.follows_store = follows_store;
      const std::string value = lane(operands[2]);
      return operands.size() > 3 ? dialect_.masked_store(at, lane(operands[3]), value, op)
                                 : dialect_.store(at, value, op);
    });
  }

  void print_compose(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    if (op.lanes == 1) return define(i, [&] { return moved_lane(operands[0], lane_); });
    declare(op, name(i));
    for (uint32_t k = 0; k < op.lanes; ++k) {
      line(fmt::format("v{}[{}] = {};", i, k, moved_lane(operands[k], lane_)));
    }
  }

  void print_reduce(uint32_t i, const tn_op& op) {
    const uint32_t from = program_.operands(op)[0];
    const uint32_t lanes = program_.op(from).lanes;
    declare(op, name(i));
    line(fmt::format("v{} = {};", i, lane(from, "0")));
    for (uint32_t k = 1; k < lanes; ++k) {  // in order, as ops.def requires
      const std::string next = compute(static_cast<uint16_t>(op.imm), op.dtype, op.dtype,
                                       {fmt::format("v{}", i), lane(from, fmt::format("{}", k))});
      line(fmt::format("v{} = {};", i, next));
    }
  }

  /// Assigns `value`, called `from`, to the variable of value `like`.
  void assign(const std::string& to, uint32_t like, const std::string& from, uint32_t value,
              bool declares) {
    const tn_op& of = program_.op(value);
    if (const std::string type = dialect_.fragment_type(like); !type.empty()) {
      return line(fmt::format("{}{} = {};", declares ? type + " " : "", to,
                              dialect_.fragment(like, value, from)));
    }
    if (declares && of.lanes == 1) {
      return line(fill_pattern(data_.initial, {std::string(type(of)), to, from}));
    }
    if (declares) declare(of, to);
    each_lane(of.lanes, [&] {
      const std::string l = of.lanes > 1 ? "[" + lane_ + "]" : "";
      return fmt::format("{}{} = {}{};", to, l, from, l);
    });
  }

  /// Copies a value to a constant variable.
  void keep(const std::string& to, uint32_t value) {
    const tn_op& of = program_.op(value);
    if (of.lanes > 1) return assign(to, value, name(value), value, true);
    line(fill_pattern(data_.definition, {std::string(type(of)), to, name(value)}));
  }

  void print_loop(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    for (uint32_t k = 3; k < operands.size(); ++k) {
      assign(name(i + k - 2), i + k - 2, name(operands[k]), operands[k], true);
    }
    const std::string_view hint = op.flags & TN_OP_UNROLL ? data_.loop_hint : data_.roll_hint;
    if (!hint.empty()) line(hint);
    const tn_op& step = program_.op(operands[2]);
    is_unit_step_.push_back(step.op == TN_OP_CONST && step.imm == 1);
    const std::string next = is_unit_step_.back() ? fmt::format(" {} += 1", name(i)) : "";
    line(fill_pattern(
        data_.loop, {std::string(type(op)), name(i), name(operands[0]), name(operands[1]), next}));
    ++depth_;
    open_.push_back(i);
  }

  void print_end(const tn_op& op) {
    const uint32_t opener = open_.back();
    const tn_op& loop = program_.op(opener);
    if (loop.op == TN_OP_LOOP) print_next(opener, loop, program_.operands(op));
    open_.pop_back();
    --depth_;
    line("}");
  }

  /// Reads all next values before writing carries.
  void print_next(uint32_t loop_value, const tn_op& loop, std::span<const uint32_t> next) {
    const uint32_t carries = loop.operand_count - 3u;
    const bool has_temporaries = carries > 1;
    for (uint32_t k = 0; k < carries && has_temporaries; ++k) {
      const std::string temporary = fmt::format("n{}", loop_value + 1 + k);
      keep(temporary, next[k]);
    }
    const bool ends_early = next.size() > carries;
    if (ends_early) keep(fmt::format("go{}", loop_value), next.back());
    for (uint32_t k = 0; k < carries; ++k) {
      const std::string carry = name(loop_value + 1 + k);
      const std::string from =
          has_temporaries ? fmt::format("n{}", loop_value + 1 + k) : name(next[k]);
      assign(carry, loop_value + 1 + k, from, next[k], false);
    }
    if (ends_early) line(fmt::format("if (!go{}) {{ break; }}", loop_value));
    if (!is_unit_step_.back()) {  // else the last step could overflow
      const auto operands = program_.operands(loop);
      const uint8_t wide = loop.dtype == TN_DTYPE_I32 ? TN_DTYPE_U32 : TN_DTYPE_U64;
      // Print constants by their bits, as WGSL does not convert a negative literal.
      const auto as_unsigned = [&](uint32_t value) {
        const tn_op& of = program_.op(value);
        if (of.op == TN_OP_CONST) return dialect_.literal(of.imm, wide);
        return dialect_.cast(name(value), loop.dtype, wide);
      };
      const std::string at = name(loop_value), step = name(operands[2]);
      line(fmt::format("if ({} - {} <= {}) {{ break; }}", as_unsigned(operands[1]),
                       as_unsigned(loop_value), as_unsigned(operands[2])));
      line(fmt::format("{} += {};", at, step));
    }
    is_unit_step_.pop_back();
  }

  ProgramView program_;
  const Dialect& dialect_;
  const DialectData& data_;
  std::string out_;
  size_t depth_ = 1;
  std::vector<bool> is_fused_;     ///< products used only by contracted sums
  std::vector<bool> is_array_;     ///< constants that need an array
  std::string lane_ = "l";         ///< index expression of the current lane
  uint32_t of_constants_ = kNone;  ///< the current op, if all its operands are constants
  std::vector<uint32_t> open_;
  StoredRegions stored_;
  std::vector<bool> is_unit_step_;  ///< of the open loops
};

}  // namespace

std::string print_source(const ProgramView& program, const Dialect& dialect) {
  return SourcePrinter(program, dialect).run();
}

}  // namespace tenon::sdk
