// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check of every op: what the core would rewrite before a plugin sees it is claimed too.
#include <algorithm>
#include <array>
#include <map>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/programs/runner.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "sdk/program/dtype_info.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

constexpr uint32_t kOpThreads = 64;  ///< each has a pair of operands
constexpr size_t kOpsAtOnce = 24;

/// An op whose result is certain on whatever integers, or on the small floats of program_data.hpp.
struct Row {
  tn_opcode op;
  uint64_t imm = 0;
  tn_dtype to = TN_DTYPE_VOID;  ///< of a CAST
};

std::string name_of(const Row& row, tn_dtype dtype, uint16_t lanes) {
  const std::string to = row.to == TN_DTYPE_VOID ? ""
                                                 : fmt::format("{} to {}", row.imm ? " bits" : "",
                                                               sdk::dtype_text(uint8_t(row.to)));
  return fmt::format("{} {}x{}{}", sdk::op_text(row.op), sdk::dtype_text(uint8_t(dtype)), lanes,
                     to);
}

/// Of one value, whatever the declared accuracy. A cast has rows of its own.
bool is_certain(const sdk::OpInfo& op) {
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

/// One program: out[row] = op(a, b) in every thread.
class OpProgram {
 public:
  OpProgram(const OpenDevice& device, tn_dtype dtype, uint16_t lanes, std::span<const Row> rows)
      : narrowest_(device.properties().storage_bytes),
        dtype_(dtype),
        lanes_(lanes),
        builder_("ops") {
    const uint64_t count = uint64_t{kOpThreads} * lanes;
    // A result of another dtype has a buffer of its own.
    for (const Row& row : rows) ++counts_[stored(result_of(row))];
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    for (const auto& [to, rows_of] : counts_)
      outs_[to] = builder_.buffer(fmt::format("out_{}", sdk::dtype_text(uint8_t(to))), to, kBoth,
                                  count * rows_of);
    const Value a = builder_.buffer("a", stored(dtype), TN_ACCESS_READ, count);
    const Value b = builder_.buffer("b", stored(dtype), TN_ACCESS_READ, count);
    thread_ = builder_.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    first_ = index(TN_OP_MUL, thread_, whole(lanes));
    a_ = load(a);
    b_ = load(b);
    for (const Row& row : rows) add(row);
  }

  SequenceStep step() const {
    return {"program", {kOpThreads, 1, 1, 7, 0}, sdk::print_program(builder_.finish().view())};
  }

 private:
  tn_dtype result_of(const Row& row) const {
    if (row.op == TN_OP_CAST) return row.to;
    return sdk::op_info(row.op)->kind == sdk::OpKind::COMPARE ? TN_DTYPE_BOOL : dtype_;
  }
  /// What stands for it in memory, where that has no narrow elements.
  tn_dtype stored(tn_dtype dtype) const {
    const bool is_narrow = sdk::dtype_bytes(uint8_t(dtype)) < narrowest_;
    return is_narrow && !sdk::is_float(uint8_t(dtype)) ? TN_DTYPE_I32 : dtype;
  }
  Value load(Value from) {
    const tn_dtype there = stored(dtype_);
    Value value = builder_.op(TN_OP_TAKE, there, lanes_, {from, first_});
    if (there == dtype_) return value;
    if (dtype_ == TN_DTYPE_BOOL)
      value = builder_.op(TN_OP_AND, there, lanes_, {value, builder_.constant(there, 1, lanes_)});
    return builder_.op(TN_OP_CAST, dtype_, lanes_, {value});
  }
  Value whole(int64_t n) { return builder_.constant(TN_DTYPE_I32, static_cast<uint32_t>(n)); }
  Value index(tn_opcode op, Value x, Value y) { return builder_.op(op, TN_DTYPE_I32, 1, {x, y}); }

  /// a, as exact as the float that it becomes: integers of a few bits. And the bits of a bool.
  Value cast_operand(const Row& row) {
    const bool is_bool = row.to == TN_DTYPE_BOOL && row.imm == TN_CAST_BITS;
    const bool is_exact = sdk::is_float(uint8_t(row.to)) && sdk::is_integer(uint8_t(dtype_));
    if (!is_bool && !is_exact) return a_;
    const Value most = builder_.constant(dtype_, is_bool ? 1 : 7, lanes_);
    return builder_.op(TN_OP_AND, dtype_, lanes_, {a_, most});
  }

  Value compute(const Row& row) {
    const auto op = [&](tn_dtype dtype, std::initializer_list<Value> operands) {
      return builder_.op(row.op, dtype, lanes_, operands, row.imm);
    };
    if (row.op == TN_OP_CAST) return op(row.to, {cast_operand(row)});
    if (row.op == TN_OP_BROADCAST) {
      const Value one = builder_.op(TN_OP_EXTRACT, dtype_, 1, {a_}, lanes_ - 1u);
      return op(dtype_, {one});
    }
    if (row.op == TN_OP_LANE_REDUCE || row.op == TN_OP_EXTRACT)
      return builder_.op(TN_OP_BROADCAST, dtype_, lanes_,
                         {builder_.op(row.op, dtype_, 1, {a_}, row.imm)});
    if (row.op == TN_OP_COMPOSE) {
      std::vector<Value> parts;
      for (uint16_t l = lanes_; l-- > 0;)
        parts.push_back(builder_.op(TN_OP_EXTRACT, dtype_, 1, {l % 2 ? a_ : b_}, l));
      return builder_.op(TN_OP_COMPOSE, dtype_, lanes_, parts);
    }
    if (row.op == TN_OP_WHERE) {
      const Value differ = builder_.op(TN_OP_CMPNE, TN_DTYPE_BOOL, lanes_, {a_, b_});
      return op(dtype_, {differ, b_, a_});
    }
    const int arity = sdk::op_info(row.op)->arity;
    if (arity == 1) return op(result_of(row), {a_});
    if (arity == 3) return op(result_of(row), {a_, b_, b_});
    return op(result_of(row), {a_, b_});
  }

  void add(const Row& row) {
    const tn_dtype to = stored(result_of(row));
    Value value = compute(row);
    if (to != result_of(row)) value = builder_.op(TN_OP_CAST, to, lanes_, {value});
    const int64_t begin = int64_t{kOpThreads} * lanes_ * next_[to]++;
    builder_.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
                {outs_.at(to), index(TN_OP_ADD, first_, whole(begin)), value});
  }

  uint32_t narrowest_;
  tn_dtype dtype_;
  uint16_t lanes_;
  ProgramBuilder builder_;
  std::map<tn_dtype, uint64_t> counts_;
  std::map<tn_dtype, int64_t> next_;
  std::map<tn_dtype, Value> outs_;
  Value thread_ = 0, first_ = 0, a_ = 0, b_ = 0;
};

std::vector<Row> rows_of(tn_dtype dtype, uint16_t lanes) {
  std::vector<Row> out;
  for (const sdk::OpInfo& op : sdk::all_ops())
    if (is_certain(op) && sdk::takes(op.types, uint8_t(dtype)))
      out.push_back({static_cast<tn_opcode>(op.op)});
  for (uint32_t to = 0; to < 32; ++to)
    if (sdk::is_usable(uint8_t(to)) && to != uint32_t(dtype)) {
      out.push_back({TN_OP_CAST, TN_CAST_VALUE, static_cast<tn_dtype>(to)});
      // To a float they may give NaN, and a float's are no bool.
      const bool is_plain =
          !sdk::is_float(uint8_t(to)) && (to != TN_DTYPE_BOOL || sdk::is_integer(uint8_t(dtype)));
      if (is_plain && sdk::dtype_bytes(uint8_t(to)) == sdk::dtype_bytes(uint8_t(dtype)))
        out.push_back({TN_OP_CAST, TN_CAST_BITS, static_cast<tn_dtype>(to)});
    }
  if (lanes == 1) return out;
  for (const tn_opcode op : {TN_OP_BROADCAST, TN_OP_COMPOSE}) out.push_back({op});
  out.push_back({TN_OP_EXTRACT, lanes - 1u});
  for (const tn_opcode op : {TN_OP_ADD, TN_OP_MAX, TN_OP_MUL})
    out.push_back({TN_OP_LANE_REDUCE, static_cast<uint64_t>(op)});
  return out;
}

bool is_claimed(const OpenDevice& device, const SequenceStep& step) {
  constexpr uint32_t kGrid[3] = {kOpThreads, 1, 1};
  return programs::unclaimed(device, program_of(step).view(), kGrid).empty();
}

/// The first of the rows that is wrong alone, and what it did.
[[noreturn]] void name_culprit(const OpenDevice& device, tn_dtype dtype, uint16_t lanes,
                               std::span<const Row> rows, const Finding& together) {
  for (const Row& row : rows) try {
      programs::run_program(device, OpProgram(device, dtype, lanes, std::span(&row, 1)).step());
    } catch (const Finding& finding) {
      throw Finding{finding.kind, fmt::format("{}: {}", name_of(row, dtype, lanes), finding.text)};
    }
  throw Finding{together.kind, fmt::format("{}x{} ops in one program: {}",
                                           sdk::dtype_text(uint8_t(dtype)), lanes, together.text)};
}

size_t run_ops(const CheckContext& c, const OpenDevice& device, tn_dtype dtype, uint16_t lanes) {
  std::vector<Row> rows = rows_of(dtype, lanes);
  std::erase_if(rows, [&](const Row& row) {
    return !is_claimed(device, OpProgram(device, dtype, lanes, std::span(&row, 1)).step());
  });
  // As many together as there are bindings: outputs of several dtypes are several buffers.
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    end = std::min(begin + kOpsAtOnce, rows.size());
    const auto some = [&] { return std::span(rows).subspan(begin, end - begin); };
    while (end > begin + 1 && !is_claimed(device, OpProgram(device, dtype, lanes, some()).step()))
      --end;
    c.alive();
    try {
      programs::run_program(device, OpProgram(device, dtype, lanes, some()).step());
    } catch (const Finding& finding) {
      name_culprit(device, dtype, lanes, some(), finding);
    }
  }
  return rows.size();
}

/// An op whose results are a matter of accuracy: that it is taken where it is claimed is certain.
void compile_inexact(const CheckContext& c, const OpenDevice& device, tn_dtype dtype) {
  for (const sdk::OpInfo& op : sdk::all_ops()) {
    const Row row{static_cast<tn_opcode>(op.op)};
    if (!sdk::is_elementwise(op) || is_certain(op) || row.op == TN_OP_CAST) continue;
    if (!sdk::takes(op.types, uint8_t(dtype))) continue;
    const SequenceStep step = OpProgram(device, dtype, 1, std::span(&row, 1)).step();
    if (!is_claimed(device, step)) continue;
    c.alive();
    const CompileAnswer answer = device.compile(*program_of(step).get());
    if (!answer.executable && answer.status != TN_ERROR_OUT_OF_MEMORY)
      find("support", "{}: expected an op that is claimed to be compiled, got {} ({})",
           name_of(row, dtype, 1), status_text(answer.status), answer.text);
  }
}

void each_op(const CheckContext& c) {
  const OpenDevice device = computing(c);
  const auto caps = std::ranges::find(device.dtypes(), uint32_t(c.dtype), &tn_dtype_caps::dtype);
  need(caps != device.dtypes().end(), "the device does not have the dtype");
  size_t ran = run_ops(c, device, c.dtype, 1);
  compile_inexact(c, device, c.dtype);
  if (device.claims(TN_OP_BROADCAST)) {
    const auto wide = static_cast<uint16_t>(std::clamp(caps->vector_lanes, 2u, 64u));
    ran += run_ops(c, device, c.dtype, wide);
  }
  need(ran > 0, "the device takes none of the ops from buffers");
}

/// A row for each dtype, so that its name says which one is wrong.
std::vector<CheckRow> make_rows() {
  static const auto names = [] {
    std::array<std::string, sdk::all_dtypes().size()> out;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = fmt::format("each_op.{}", sdk::all_dtypes()[i].text);
    return out;
  }();
  std::vector<CheckRow> rows;
  for (size_t i = 0; i < names.size(); ++i)
    rows.push_back({names[i], each_op, static_cast<tn_dtype>(sdk::all_dtypes()[i].dtype)});
  return rows;
}

}  // namespace

std::span<const CheckRow> op_checks() {
  static const std::vector<CheckRow> rows = make_rows();
  return rows;
}

}  // namespace tenon::conformance::abi::checks
