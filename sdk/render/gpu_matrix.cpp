// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fragment is loaded by one instruction if its rows are known to be aligned, else by the widest
// accesses that the layout and the known alignment allow.
#include "sdk/render/gpu_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sdk/program/op_info.hpp"
#include "sdk/render/gpu_types.hpp"

namespace tenon::sdk {
namespace {

constexpr uint8_t kMostBits = 16;

class FragmentPrinter {
 public:
  FragmentPrinter(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                  const std::string& name, const std::vector<std::string>& operands)
      : program_(program),
        op_(op),
        role_((op.imm & TN_MATRIX_ROLE) >> 32),
        is_transposed_(op.imm & TN_MATRIX_TRANSPOSED),
        atom_(atom),
        name_(name),
        operands_(operands) {}

  std::string load() const {
    const std::string declared = declaration();
    const std::string_view call = tile().call;
    if (!call.empty() && is_shared() && is_aligned(16)) {
      return declared +
             in_block(fmt::format("{}({}, {});", call, name_, place(tile().row, tile().column)));
    }
    return declared + in_block(moves(op_.lanes, [&](uint32_t bytes, const std::string& at) {
             return bytes           ? fmt::format("tn_move_{}({} + l, {});", bytes, name_, at)
                    : op_.lanes > 1 ? fmt::format("{}[l] = *({});", name_, at)
                                    : fmt::format("{} = *({});", name_, at);
           }));
  }

  std::string store() const {
    const uint32_t lanes = program_.op(program_.operands(op_)[3]).lanes;
    return in_block(moves(lanes, [&](uint32_t bytes, const std::string& at) {
      return bytes ? fmt::format("tn_move_{}({}, {} + l);", bytes, at, operands_[3])
                   : fmt::format("*({}) = {}[l];", at, operands_[3]);
    }));
  }

  std::string multiply() const {
    return declaration() + fmt::format("{}({}, {}, {}, {});", atom_.multiply, name_, operands_[0],
                                       operands_[1], operands_[2]);
  }

 private:
  std::string declaration() const {
    if (op_.lanes == 1) return fmt::format("{} {};\n", gpu_type(op_.dtype), name_);
    return fmt::format("alignas(16) {} {}[{}];\n", gpu_type(op_.dtype), name_, op_.lanes);
  }
  static std::string in_block(const std::string& statement) {
    return "{ const int t = (int)tn_lane; " + statement + " }";
  }

  const tn_param& param() const {
    const uint32_t buffer = program_.operands(op_)[0];
    return program_.param(static_cast<uint32_t>(program_.op(buffer).imm));
  }
  bool is_shared() const { return param().space == TN_SPACE_SHARED; }
  const GpuTileLoad& tile() const {
    static constexpr GpuTileLoad kNone;
    if (role_ > 1) return kNone;
    return is_transposed_ ? atom_.transposed[role_] : atom_.plain[role_];
  }

  /// Whether all rows in memory begin at a multiple of `bytes`.
  bool is_aligned(uint32_t bytes) const {
    const auto zeros = known_zero_bits(program_);
    const auto operands = program_.operands(op_);
    const uint32_t size = dtype_bytes(static_cast<uint8_t>(param().dtype));
    const auto known = [&](uint32_t value) { return (uint64_t{size} << zeros[value]) >= bytes; };
    const bool is_placed = is_shared() || param().alignment >= bytes;
    return is_placed && known(operands[1]) && known(operands[2]);
  }

  /// The address of an element, by memory row and element in it.
  std::string place(std::string_view row, std::string_view element) const {
    return fmt::format("{} + {} + ({}) * {} + ({})", operands_[0], operands_[1], row, operands_[2],
                       element);
  }

  /// A statement for each run of lanes; 0 bytes are one element.
  template <class Move>
  std::string moves(uint32_t lanes, Move move) const {
    const uint8_t* const layout = role_ == 0   ? atom_.atom.a_layout
                                  : role_ == 1 ? atom_.atom.b_layout
                                               : atom_.atom.c_layout;
    const uint32_t size = dtype_bytes(static_cast<uint8_t>(param().dtype));
    const uint32_t run = std::min(neighbours(layout + (is_transposed_ ? 0 : 8)), 16 / size);
    const uint32_t bytes = run * size;
    const bool is_run = run > 1 && is_aligned(bytes);
    const std::string row = position(layout, lanes), column = position(layout + 8, lanes);
    const std::string at = is_transposed_ ? place(column, row) : place(row, column);
    return fmt::format("_Pragma(\"unroll\") for (int l = 0; l < {}; l += {}) {}", lanes,
                       is_run ? run : 1, move(is_run ? bytes : 0, at));
  }

  /// Number of consecutive lanes that hold consecutive elements: a power of two.
  static uint32_t neighbours(const uint8_t* element) {
    uint32_t count = 0;
    while (count < 8 && element[count] == (TN_BIT_OF_LANE | count)) ++count;
    return 1u << count;
  }

  /// A row or column as an expression of thread t and lane l.
  std::string position(const uint8_t* bits, uint32_t lanes) const {
    std::string out;
    for (uint32_t i = 0, n = 0; i < 8 && bits[i]; i += n) {
      for (n = 1; i + n < 8 && bits[i + n] == bits[i] + n;) ++n;
      const bool is_thread = bits[i] & TN_BIT_OF_THREAD;
      const uint32_t from = bits[i] & (TN_BIT_OF_LANE - 1);
      std::string term = is_thread ? "t" : "l";
      if (from) term = fmt::format("({} >> {})", term, from);
      if ((is_thread ? atom_.atom.subgroup : lanes) > 1u << (from + n))
        term = fmt::format("({} & {})", term, (1u << n) - 1);
      if (i) term += fmt::format(" * {}", 1u << i);
      out += (out.empty() ? "" : " + ") + term;
    }
    return out.empty() ? "0" : out;
  }

  ProgramView program_;
  const tn_op& op_;
  uint64_t role_;
  bool is_transposed_;
  const GpuAtom& atom_;
  const std::string& name_;
  const std::vector<std::string>& operands_;
};

uint8_t zero_bits(const ProgramView& program, const tn_op& op, const std::vector<uint8_t>& zeros) {
  const auto operands = program.operands(op);
  const auto of = [&](size_t k) { return zeros[operands[k]]; };
  switch (op.op) {
    case TN_OP_CONST:
      return static_cast<uint8_t>(op.imm ? std::countr_zero(op.imm) : kMostBits);
    case TN_OP_CAST:
      return op.imm == TN_CAST_VALUE && dtype_bytes(op.dtype) >= 4 ? of(0) : uint8_t{0};
    case TN_OP_MUL:
      return static_cast<uint8_t>(of(0) + of(1));
    case TN_OP_ADD:
    case TN_OP_SUB:
    case TN_OP_MOD:
    case TN_OP_OR:
    case TN_OP_XOR:
    case TN_OP_MAX:
    case TN_OP_MIN:
    case TN_OP_LOOP:  // begin, and steps from there
      return std::min(of(0), op.op == TN_OP_LOOP ? of(2) : of(1));
    case TN_OP_AND:
      return std::max(of(0), of(1));
    case TN_OP_WHERE:
      return std::min(of(1), of(2));
    case TN_OP_SHL: {
      const tn_op& by = program.op(operands[1]);
      const bool is_known = by.op == TN_OP_CONST && by.imm < kMostBits;
      return static_cast<uint8_t>(of(0) + (is_known ? by.imm : 0));
    }
    default:
      return 0;
  }
}

}  // namespace

std::vector<uint8_t> known_zero_bits(const ProgramView& program) {
  std::vector<uint8_t> zeros(program.op_count());
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (is_integer(op.dtype)) zeros[i] = std::min(zero_bits(program, op, zeros), kMostBits);
  }
  return zeros;
}

std::string gpu_matrix_statement(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                                 const std::string& name,
                                 const std::vector<std::string>& operands) {
  const FragmentPrinter printer(program, op, atom, name, operands);
  if (op.op == TN_OP_MATRIX_LOAD) return printer.load();
  return op.op == TN_OP_MATRIX_STORE ? printer.store() : printer.multiply();
}

}  // namespace tenon::sdk
