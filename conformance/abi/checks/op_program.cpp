// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/op_program.hpp"

#include <algorithm>
#include <map>

#include "conformance/abi/programs/runner.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/rules.hpp"
#include "sdk/program/dtype_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

constexpr uint32_t kOpThreads = 64;  ///< each has a pair of operands
constexpr int kRuleOfClaims = 27;

/// One program: out[row] = op(a, b) in every thread.
class OpProgram {
 public:
  OpProgram(const OpenDevice& device, const OpForm& form, std::span<const OpRow> rows)
      : narrowest_(device.properties().storage_bytes),
        lanes_(form.lanes),
        rows_(rows),
        builder_("ops") {
    const uint64_t count = uint64_t{kOpThreads} * lanes_;
    // A result of another dtype has a buffer of its own.
    std::map<tn_dtype, uint64_t> counts;
    for (const OpRow& row : rows) ++counts[stored(result_of(row))];
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    for (const auto& [to, rows_of] : counts)
      outs_[to] = builder_.buffer(out_name(to), to, kBoth, count * rows_of);
    std::map<tn_dtype, std::pair<Value, Value>> buffers;
    for (const OpRow& row : rows) {
      if (buffers.contains(row.from)) continue;
      const auto operand = [&](const char* name) {
        return builder_.buffer(
            fmt::format("{}{}_{}", form.operands, name, sdk::dtype_text(uint8_t(row.from))),
            stored(row.from), TN_ACCESS_READ, count);
      };
      const Value a = operand("a"), b = operand("b");
      buffers[row.from] = {a, b};
    }
    thread_ = builder_.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    first_ = index(TN_OP_MUL, thread_, whole(lanes_));
    for (const auto& [from, pair] : buffers)
      operands_[from] = {load(from, pair.first), load(from, pair.second)};
    for (const OpRow& row : rows) add(row);
  }

  SequenceStep step() const {
    return {"program", {kOpThreads, 1, 1, 7, 0}, sdk::print_program(builder_.finish().view())};
  }

  /// The row whose result is element `i` of an output; null if that is none.
  const OpRow* row_of(std::string_view output, uint64_t i) const {
    uint64_t left = i / (uint64_t{kOpThreads} * lanes_);
    for (const OpRow& row : rows_)
      if (out_name(stored(result_of(row))) == output && left-- == 0) return &row;
    return nullptr;
  }

 private:
  static std::string out_name(tn_dtype to) {
    return fmt::format("out_{}", sdk::dtype_text(uint8_t(to)));
  }
  tn_dtype result_of(const OpRow& row) const {
    if (row.op == TN_OP_CAST) return row.to;
    return sdk::op_info(row.op)->kind == sdk::OpKind::COMPARE ? TN_DTYPE_BOOL : row.from;
  }
  /// What stands for it in memory, where that has no narrow elements.
  tn_dtype stored(tn_dtype dtype) const {
    const bool is_narrow = sdk::dtype_bytes(uint8_t(dtype)) < narrowest_;
    return is_narrow && !sdk::is_float(uint8_t(dtype)) ? TN_DTYPE_I32 : dtype;
  }
  Value load(tn_dtype dtype, Value buffer) {
    const tn_dtype there = stored(dtype);
    Value value = builder_.op(TN_OP_TAKE, there, lanes_, {buffer, first_});
    if (there == dtype) return value;
    if (dtype == TN_DTYPE_BOOL)
      value = builder_.op(TN_OP_AND, there, lanes_, {value, builder_.constant(there, 1, lanes_)});
    return builder_.op(TN_OP_CAST, dtype, lanes_, {value});
  }
  Value whole(int64_t n) { return builder_.constant(TN_DTYPE_I32, static_cast<uint32_t>(n)); }
  Value index(tn_opcode op, Value x, Value y) { return builder_.op(op, TN_DTYPE_I32, 1, {x, y}); }

  /// a, as exact as the float that it becomes: integers of a few bits. And the bits of a bool.
  Value cast_operand(const OpRow& row) {
    const bool is_bool = row.to == TN_DTYPE_BOOL && row.imm == TN_CAST_BITS;
    const bool is_exact = sdk::is_float(uint8_t(row.to)) && sdk::is_integer(uint8_t(row.from));
    const Value a = operands_.at(row.from).first;
    if (!is_bool && !is_exact) return a;
    const Value most = builder_.constant(row.from, is_bool ? 1 : 7, lanes_);
    return builder_.op(TN_OP_AND, row.from, lanes_, {a, most});
  }

  Value compute(const OpRow& row) {
    const auto [a, b] = operands_.at(row.from);
    const tn_dtype dtype = row.from;
    const auto op = [&](tn_dtype to, std::initializer_list<Value> operands) {
      return builder_.op(row.op, to, lanes_, operands, row.imm);
    };
    if (row.op == TN_OP_CAST) return op(row.to, {cast_operand(row)});
    if (row.op == TN_OP_BROADCAST) {
      const Value one = builder_.op(TN_OP_EXTRACT, dtype, 1, {a}, lanes_ - 1u);
      return op(dtype, {one});
    }
    if (row.op == TN_OP_LANE_REDUCE || row.op == TN_OP_EXTRACT)
      return builder_.op(TN_OP_BROADCAST, dtype, lanes_,
                         {builder_.op(row.op, dtype, 1, {a}, row.imm)});
    if (row.op == TN_OP_COMPOSE) {
      std::vector<Value> parts;
      for (uint16_t l = lanes_; l-- > 0;)
        parts.push_back(builder_.op(TN_OP_EXTRACT, dtype, 1, {l % 2 ? a : b}, l));
      return builder_.op(TN_OP_COMPOSE, dtype, lanes_, parts);
    }
    if (row.op == TN_OP_WHERE) {
      const Value differ = builder_.op(TN_OP_CMPNE, TN_DTYPE_BOOL, lanes_, {a, b});
      return op(dtype, {differ, b, a});
    }
    const int arity = sdk::op_info(row.op)->arity;
    if (arity == 1) return op(result_of(row), {a});
    if (arity == 3) return op(result_of(row), {a, b, b});
    return op(result_of(row), {a, b});
  }

  void add(const OpRow& row) {
    const tn_dtype to = stored(result_of(row));
    Value value = compute(row);
    if (to != result_of(row)) value = builder_.op(TN_OP_CAST, to, lanes_, {value});
    const int64_t begin = int64_t{kOpThreads} * lanes_ * next_[to]++;
    builder_.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
                {outs_.at(to), index(TN_OP_ADD, first_, whole(begin)), value});
  }

  uint32_t narrowest_;
  uint16_t lanes_;
  std::span<const OpRow> rows_;
  ProgramBuilder builder_;
  std::map<tn_dtype, int64_t> next_;
  std::map<tn_dtype, Value> outs_;
  std::map<tn_dtype, std::pair<Value, Value>> operands_;  ///< by their dtype
  Value thread_ = 0, first_ = 0;
};

bool is_claimed(const OpenDevice& device, const SequenceStep& step) {
  constexpr uint32_t kGrid[3] = {kOpThreads, 1, 1};
  return programs::unclaimed(device, program_of(step).view(), kGrid).empty();
}

bool is_claimed(const OpenDevice& device, const OpForm& form, std::span<const OpRow> rows) {
  return is_claimed(device, OpProgram(device, form, rows).step());
}

/// Calls `take` with stretches of the rows that one program holds each: outputs of several dtypes
/// are several bindings.
template <class Take>
void each_program(const CheckContext& c, const OpenDevice& device, const OpForm& form,
                  std::span<const OpRow> rows, const Take& take) {
  for (size_t begin = 0, count = 0; begin < rows.size(); begin += count) {
    count = std::min(rows.size() - begin, form.most_rows);
    while (count > 1 && !is_claimed(device, form, rows.subspan(begin, count)))
      count -= std::max<size_t>(count / 4, 1);
    c.alive();
    take(rows.subspan(begin, count));
  }
}

/// The first row that `fails` alone, found by halves; null if only several together do.
template <class Fails>
const OpRow* culprit(std::span<const OpRow> rows, const Fails& fails) {
  if (rows.size() == 1) return fails(rows) ? rows.data() : nullptr;
  const size_t half = rows.size() / 2;
  for (const auto part : {rows.first(half), rows.subspan(half)})
    if (part.size() == 1 || fails(part))
      if (const OpRow* row = culprit(part, fails)) return row;
  return nullptr;
}

std::optional<Finding> run_together(const OpenDevice& device, const OpForm& form,
                                    std::span<const OpRow> rows) {
  try {
    programs::run_program(device, OpProgram(device, form, rows).step());
    return {};
  } catch (const Finding& finding) {
    return finding;
  }
}

/// The row that a wrong element belongs to, or else one that fails alone; and what it did.
[[noreturn]] void blame(const OpenDevice& device, const OpForm& form, std::span<const OpRow> rows,
                        const Finding& together) {
  const OpRow* row = OpProgram(device, form, rows).row_of(together.buffer, together.element);
  if (!row)
    row = culprit(rows, [&](std::span<const OpRow> some) {
      return run_together(device, form, some).has_value();
    });
  if (!row)
    throw Finding{together.kind, fmt::format("{} ops in one program, and none of them alone: {}",
                                             rows.size(), together.text)};
  if (const auto alone = run_together(device, form, std::span(row, 1)))
    throw Finding{alone->kind, fmt::format("{}: {}", name_of(*row, form.lanes), alone->text)};
  throw Finding{together.kind,
                fmt::format("{}, with {} other ops in one program: {}", name_of(*row, form.lanes),
                            rows.size() - 1, together.text)};
}

}  // namespace

std::string name_of(const OpRow& row, uint16_t lanes) {
  const std::string to = row.to == TN_DTYPE_VOID ? ""
                                                 : fmt::format("{} to {}", row.imm ? " bits" : "",
                                                               sdk::dtype_text(uint8_t(row.to)));
  return fmt::format("{} {}x{}{}", sdk::op_text(row.op), sdk::dtype_text(uint8_t(row.from)), lanes,
                     to);
}

bool has_one_answer(const sdk::OpInfo& op) {
  switch (op.family) {
    using enum sdk::OpFamily;
    case QUOTIENT:
    case ROOT:
    case POWER:
    case LOG:
    case ANGLE:
    case CONVERT:
      return false;
    default:
      return sdk::is_elementwise(op);
  }
}

std::vector<OpRow> certain_rows(tn_dtype dtype, uint16_t lanes) {
  std::vector<OpRow> out;
  for (const sdk::OpInfo& op : sdk::all_ops())
    if (has_one_answer(op) && sdk::takes(op.types, uint8_t(dtype)))
      out.push_back({static_cast<tn_opcode>(op.op), dtype});
  for (uint32_t to = 0; to < 32; ++to)
    if (sdk::is_usable(uint8_t(to)) && to != uint32_t(dtype)) {
      out.push_back({TN_OP_CAST, dtype, TN_CAST_VALUE, static_cast<tn_dtype>(to)});
      // To a float they may give NaN, and a float's are no bool.
      const bool is_plain =
          !sdk::is_float(uint8_t(to)) && (to != TN_DTYPE_BOOL || sdk::is_integer(uint8_t(dtype)));
      if (is_plain && sdk::dtype_bytes(uint8_t(to)) == sdk::dtype_bytes(uint8_t(dtype)))
        out.push_back({TN_OP_CAST, dtype, TN_CAST_BITS, static_cast<tn_dtype>(to)});
    }
  if (lanes == 1) return out;
  for (const tn_opcode op : {TN_OP_BROADCAST, TN_OP_COMPOSE}) out.push_back({op, dtype});
  out.push_back({TN_OP_EXTRACT, dtype, lanes - 1u});
  for (const tn_opcode op : {TN_OP_ADD, TN_OP_MAX, TN_OP_MUL})
    out.push_back({TN_OP_LANE_REDUCE, dtype, static_cast<uint64_t>(op)});
  return out;
}

void keep_claimed(const OpenDevice& device, const OpForm& form, std::vector<OpRow>& rows) {
  std::erase_if(rows, [&](const OpRow& row) { return !is_claimed(device, form, {&row, 1}); });
}

void run_rows(const CheckContext& c, const OpenDevice& device, const OpForm& form,
              std::span<const OpRow> rows) {
  each_program(c, device, form, rows, [&](std::span<const OpRow> some) {
    if (const auto finding = run_together(device, form, some)) blame(device, form, some, *finding);
  });
}

void compile_rows(const CheckContext& c, const OpenDevice& device, const OpForm& form,
                  std::span<const OpRow> rows) {
  const auto answer_of = [&](std::span<const OpRow> some) {
    return device.compile(*program_of(OpProgram(device, form, some).step()).get());
  };
  const auto is_refused = [](const CompileAnswer& answer) {
    return !answer.executable && answer.status != TN_ERROR_OUT_OF_MEMORY;
  };
  each_program(c, device, form, rows, [&](std::span<const OpRow> some) {
    const CompileAnswer together = answer_of(some);
    if (!is_refused(together)) return;
    const OpRow* row = culprit(some, [&](std::span<const OpRow> part) {
      c.alive();
      return is_refused(answer_of(part));
    });
    const std::string name =
        row ? name_of(*row, form.lanes) : fmt::format("{} ops in one program", some.size());
    throw Finding{"support",
                  with_rule(fmt::format("{}: expected an op that is claimed to be compiled, got {} "
                                        "({})",
                                        name, status_text(together.status), together.text),
                            kRuleOfClaims)};
  });
}

}  // namespace tenon::conformance::abi::checks
