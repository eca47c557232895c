// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars become variables, vectors arrays of lanes, carries mutable variables, masks guards.
#include "sdk/render/c_printer.hpp"

#include <fmt/format.h>

#include "sdk/helpers/failure.hpp"
#include "sdk/helpers/op_info.hpp"

namespace tenon::sdk {
namespace {

class SourcePrinter {
 public:
  SourcePrinter(const ProgramView& program, const Dialect& dialect)
      : program_(program), dialect_(dialect), data_(dialect.data()) {}

  std::string run() {
    out_ = dialect_.prelude(program_) + dialect_.header(program_);
    const auto places = allocation_places(program_);
    for (uint32_t i = 0; i < program_.param_count(); ++i) {
      const tn_param& param = program_.param(i);
      if (param.kind == TN_PARAM_ALLOC) line(dialect_.allocation(program_, param, places[i]));
    }
    for (uint32_t i = 0; i < program_.op_count(); ++i) print(i, program_.op(i));
    return out_ + dialect_.footer(program_);
  }

 private:
  void line(std::string_view text) { out_.append(depth_ * 2, ' ').append(text).push_back('\n'); }
  [[noreturn]] void refuse(const tn_op& op) const {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("{}: has no words for {}", data_.name, op_text(op.op)));
  }

  // ---- Names ----
  std::string name(uint32_t value) const {
    const tn_op& op = program_.op(value);
    if (op.op != TN_OP_PARAM) return fmt::format("v{}", value);
    return Dialect::param_name(program_, program_.param(static_cast<uint32_t>(op.imm)));
  }
  /// One lane; a value of one lane serves all.
  std::string lane(uint32_t value, std::string_view index = "l") const {
    return program_.op(value).lanes > 1 ? fmt::format("{}[{}]", name(value), index) : name(value);
  }
  std::string_view type(const tn_op& op) const { return dialect_.value_type(op.dtype); }

  /// `v = expression` of each lane; the expression uses l where there are lanes.
  void define(uint32_t i, const std::string& expression) {
    const tn_op& op = program_.op(i);
    if (op.lanes == 1) {
      line(fmt::format("{}{} v{} = {};", data_.constant, type(op), i, expression));
    } else {
      line(fmt::format("{} v{}[{}];", type(op), i, op.lanes));
      line(lanes(op.lanes) + fmt::format(" v{}[l] = {};", i, expression));
    }
  }
  std::string lanes(uint32_t count) const {
    const std::string text[] = {fmt::format("{}", count)};
    return fill_pattern(data_.lane_loop, text);
  }
  /// A statement for each lane.
  void each_lane(uint32_t count, const std::string& statement) {
    line(count > 1 ? lanes(count) + " " + statement : statement);
  }

  // ---- Expressions ----
  bool matches(Spelling::On on, uint8_t dtype) const {
    switch (on) {
      case Spelling::On::kAny:
        return true;
      case Spelling::On::kBool:
        return dtype == TN_DTYPE_BOOL;
      case Spelling::On::kInteger:
        return is_integer(dtype);
      case Spelling::On::kF32:
        return dtype == TN_DTYPE_F32 ||
               (data_.has_narrow_floats && (dtype == TN_DTYPE_F16 || dtype == TN_DTYPE_BF16));
      case Spelling::On::kF64:
        return dtype == TN_DTYPE_F64;
    }
    return false;
  }

  std::string spell(uint16_t op, uint8_t dtype, std::span<const std::string> operands) const {
    for (const Spelling& row : data_.spellings) {
      if (row.op == op && matches(row.on, dtype)) return fill_pattern(row.pattern, operands);
    }
    std::string call = fmt::format("tn_{}_{}(", op_text(op), dtype_text(dtype));
    for (size_t k = 0; k < operands.size(); ++k) call += (k ? ", " : "") + operands[k];
    return call + ")";
  }

  /// Floats that the language does not compute with go through f64 and are rounded once.
  bool is_wide(uint8_t dtype) const {
    if (!is_float(dtype) || dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64) return false;
    return !data_.has_narrow_floats || dtype_bytes(dtype) == 1;
  }

  std::string compute(uint16_t op, uint8_t from, uint8_t to,
                      std::vector<std::string> operands) const {
    const bool moves = op == TN_OP_WHERE;
    if (!is_wide(from) || moves) return spell(op, from, operands);
    for (std::string& operand : operands) operand = dialect_.cast(operand, from, TN_DTYPE_F64);
    if (op == TN_OP_FMA) {  // f64's one rounding and the next would be two
      return dialect_.cast(
          fmt::format("tn_fma_odd({}, {}, {})", operands[0], operands[1], operands[2]),
          TN_DTYPE_F64, to);
    }
    const std::string wide = "(" + spell(op, TN_DTYPE_F64, operands) + ")";
    return to == TN_DTYPE_BOOL ? wide : dialect_.cast(wide, TN_DTYPE_F64, to);
  }

  std::vector<std::string> lanes_of(std::span<const uint32_t> operands) const {
    std::vector<std::string> out;
    for (uint32_t operand : operands) out.push_back(lane(operand));
    return out;
  }

  std::string elementwise(const tn_op& op) const {
    const auto operands = program_.operands(op);
    const uint8_t from = program_.op(operands.back()).dtype;
    if (op.op != TN_OP_CAST) return compute(op.op, from, op.dtype, lanes_of(operands));
    const std::string value = lane(operands[0]);
    return op.imm == TN_CAST_BITS ? dialect_.bit_cast(value, from, op.dtype)
                                  : dialect_.cast(value, from, op.dtype);
  }

  // ---- Statements ----
  void print(uint32_t i, const tn_op& op) {
    if (is_elementwise(*op_info(op.op))) return define(i, elementwise(op));
    const auto operands = program_.operands(op);
    switch (op.op) {
      case TN_OP_PARAM:
      case TN_OP_CARRY:
        return;  // made by the header and the loop
      case TN_OP_CONST:
        return define(i, dialect_.literal(op.imm, op.dtype));
      case TN_OP_INDEX:
        return print_index(i, op);
      case TN_OP_TAKE:
        return print_load(i, op);
      case TN_OP_STORE:
        return print_store(op);
      case TN_OP_BROADCAST:
        return define(i, lane(operands[0]));
      case TN_OP_EXTRACT:
        return define(i, lane(operands[0], fmt::format("{}", op.imm)));
      case TN_OP_COMPOSE:
        return print_compose(i, op);
      case TN_OP_LANE_REDUCE:
        return print_reduce(i, op);
      case TN_OP_LOOP:
        return print_loop(i, op);
      case TN_OP_IF:
        line(fmt::format("if ({}) {{", name(operands[0])));
        ++depth_;
        open_.push_back(i);
        return;
      case TN_OP_ELSE:
        --depth_;
        line("} else {");
        ++depth_;
        return;
      case TN_OP_END:
        return print_end(op);
      case TN_OP_BARRIER:
        if (data_.barrier[op.imm].empty()) refuse(op);
        return line(data_.barrier[op.imm]);
      case TN_OP_ATOMIC: {
        std::vector<std::string> values;
        for (uint32_t operand : operands.subspan(1)) values.push_back(name(operand));
        return define(i, dialect_.atomic(name(operands[0]), values, op));
      }
      default: {
        std::vector<std::string> values;
        for (uint32_t operand : operands) values.push_back(name(operand));
        return line(dialect_.statement(program_, op, fmt::format("v{}", i), values));
      }
    }
  }

  void print_index(uint32_t i, const tn_op& op) {
    const std::string_view index = op.imm == TN_AXIS_LANE ? "l" : data_.index[op.imm];
    if (index.empty()) refuse(op);
    const bool is_lane_zero = op.imm == TN_AXIS_LANE && op.lanes == 1;
    define(i, fmt::format("({}){}", type(op), is_lane_zero ? "0" : index));
  }

  /// Index of the element of lane l: consecutive from a scalar, else a lane's own.
  std::string element(uint32_t index, uint32_t lanes) const {
    const bool is_run = lanes > 1 && program_.op(index).lanes == 1;
    return is_run ? name(index) + " + l" : lane(index);
  }

  void print_load(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    const std::string value = dialect_.load(name(operands[0]), element(operands[1], op.lanes), op);
    if (operands.size() == 2) return define(i, value);
    const std::string fill =
        operands.size() > 3 ? lane(operands[3]) : dialect_.literal(0, op.dtype);
    const std::string array = op.lanes > 1 ? fmt::format("[{}]", op.lanes) : "";
    const std::string target = lane(i);
    line(fmt::format("{} v{}{};", type(op), i, array));
    // No conditional expression: a language may evaluate both of its sides.
    each_lane(op.lanes, fmt::format("if ({}) {{ {} = {}; }} else {{ {} = {}; }}", lane(operands[2]),
                                    target, value, target, fill));
  }

  void print_store(const tn_op& op) {
    const auto operands = program_.operands(op);
    const uint32_t lanes = program_.op(operands[2]).lanes;
    std::string statement =
        dialect_.store(name(operands[0]), element(operands[1], lanes), lane(operands[2]), op);
    if (operands.size() > 3)
      statement = fmt::format("if ({}) {{ {} }}", lane(operands[3]), statement);
    each_lane(lanes, statement);
  }

  void print_compose(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    if (op.lanes == 1) return define(i, name(operands[0]));
    line(fmt::format("{} v{}[{}];", type(op), i, op.lanes));
    for (uint32_t k = 0; k < op.lanes; ++k) {
      line(fmt::format("v{}[{}] = {};", i, k, name(operands[k])));
    }
  }

  void print_reduce(uint32_t i, const tn_op& op) {
    const uint32_t from = program_.operands(op)[0];
    const uint32_t lanes = program_.op(from).lanes;
    line(fmt::format("{} v{} = {};", type(op), i, lane(from, "0")));
    for (uint32_t k = 1; k < lanes; ++k) {  // in order, as the scalar semantics say
      const std::string next = compute(static_cast<uint16_t>(op.imm), op.dtype, op.dtype,
                                       {fmt::format("v{}", i), lane(from, fmt::format("{}", k))});
      line(fmt::format("v{} = {};", i, next));
    }
  }

  void assign(const std::string& to, const std::string& from, const tn_op& of, bool declares) {
    const std::string array = of.lanes > 1 ? fmt::format("[{}]", of.lanes) : "";
    const std::string_view l = of.lanes > 1 ? "[l]" : "";
    if (declares) line(fmt::format("{} {}{};", type(of), to, array));
    each_lane(of.lanes, fmt::format("{}{} = {}{};", to, l, from, l));
  }

  void print_loop(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    for (uint32_t k = 3; k < operands.size(); ++k) {
      assign(name(i + k - 2), name(operands[k]), program_.op(operands[k]), true);
    }
    if ((op.flags & TN_OP_UNROLL) && !data_.loop_hint.empty()) line(data_.loop_hint);
    const tn_op& step = program_.op(operands[2]);
    is_unit_step_.push_back(step.op == TN_OP_CONST && step.imm == 1);
    line(fmt::format("for ({} v{} = {}; v{} < {};{}) {{", type(op), i, name(operands[0]), i,
                     name(operands[1]), is_unit_step_.back() ? fmt::format(" v{} += 1", i) : ""));
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

  /// All next values are read before a carry is written.
  void print_next(uint32_t loop_value, const tn_op& loop, std::span<const uint32_t> next) {
    const uint32_t carries = loop.operand_count - 3u;
    const bool has_temporaries = carries > 1;
    for (uint32_t k = 0; k < carries && has_temporaries; ++k) {
      assign(fmt::format("n{}", loop_value + 1 + k), name(next[k]), program_.op(next[k]), true);
    }
    const bool ends_early = next.size() > carries;
    if (ends_early)
      line(fmt::format("{} go{} = {};", type(program_.op(next.back())), loop_value,
                       name(next.back())));
    for (uint32_t k = 0; k < carries; ++k) {
      const std::string carry = name(loop_value + 1 + k);
      const std::string from =
          has_temporaries ? fmt::format("n{}", loop_value + 1 + k) : name(next[k]);
      assign(carry, from, program_.op(next[k]), false);
    }
    if (ends_early) line(fmt::format("if (!go{}) break;", loop_value));
    if (!is_unit_step_.back()) {  // the last step could overflow
      const auto operands = program_.operands(loop);
      const uint8_t wide = loop.dtype == TN_DTYPE_I32 ? TN_DTYPE_U32 : TN_DTYPE_U64;
      const auto as_unsigned = [&](const std::string& v) {
        return dialect_.cast(v, loop.dtype, wide);
      };
      const std::string at = name(loop_value), step = name(operands[2]);
      line(fmt::format("if ({} - {} <= {}) break;", as_unsigned(name(operands[1])), as_unsigned(at),
                       as_unsigned(step)));
      line(fmt::format("{} += {};", at, step));
    }
    is_unit_step_.pop_back();
  }

  ProgramView program_;
  const Dialect& dialect_;
  const DialectData& data_;
  std::string out_;
  size_t depth_ = 1;
  std::vector<uint32_t> open_;
  std::vector<bool> is_unit_step_;  ///< of the open loops
};

}  // namespace

std::string print_source(const ProgramView& program, const Dialect& dialect) {
  return SourcePrinter(program, dialect).run();
}

}  // namespace tenon::sdk
