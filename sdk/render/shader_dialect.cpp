// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/render/shader_dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sdk/program/op_info.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kWide = 4;  ///< lanes of a vector in memory

bool is_narrow_integer(uint8_t dtype) { return is_integer(dtype) && dtype_bytes(dtype) < 4; }

/// Whether the result of the op on narrow integers, computed in 32 bits, can leave their range.
bool grows(uint16_t op) {
  return op == TN_OP_ADD || op == TN_OP_SUB || op == TN_OP_MUL || op == TN_OP_NEG ||
         op == TN_OP_SHL || op == TN_OP_IDIV;
}

std::string with_point(std::string text) {
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

}  // namespace

/// If one element of a buffer is accessed alone, all are: a language may forbid a second variable
/// for the same memory.
ShaderDialect::ShaderDialect(const ProgramView& program, const ShaderMath& math) : math_(math) {
  std::set<std::string> narrow;
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    const bool is_matrix = op.op == TN_OP_MATRIX_LOAD || op.op == TN_OP_MATRIX_STORE;
    if (op.op != TN_OP_TAKE && op.op != TN_OP_STORE && op.op != TN_OP_ATOMIC && !is_matrix)
      continue;
    const auto operands = program.operands(op);
    const tn_param& param = program.param(static_cast<uint32_t>(program.op(operands[0]).imm));
    if (is_matrix) {
      narrow.insert(param_name(program, param));
      continue;
    }
    const bool is_store = op.op == TN_OP_STORE;
    const uint32_t lanes = is_store ? program.op(operands[2]).lanes : op.lanes;
    const bool is_run = op.op != TN_OP_ATOMIC && (op.flags & TN_OP_ALIGNED) &&
                        program.op(operands[1]).lanes == 1 && operands.size() == (is_store ? 3 : 2);
    const auto dtype = static_cast<uint8_t>(param.dtype);
    const bool is_word = dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_I32 || dtype == TN_DTYPE_U32;
    const bool is_shared = param.kind == TN_PARAM_ALLOC && param.space == TN_SPACE_SHARED;
    if (param.kind != TN_PARAM_BUFFER && !is_shared) continue;
    const bool is_wide = is_run && is_word && lanes % kWide == 0 &&
                         (!is_shared || (param.count && param.count % kWide == 0));
    if (is_wide) wide_.insert(param_name(program, param));
    if (!is_wide) narrow.insert(param_name(program, param));
  }
  for (const std::string& name : narrow) wide_.erase(name);
}

std::string ShaderDialect::decimal(float value) { return with_point(fmt::format("{}", value)); }
std::string ShaderDialect::decimal(double value) { return with_point(fmt::format("{}", value)); }

std::string ShaderDialect::index_of(const Element& at) {
  const bool is_negative = at.index.starts_with("(-") && at.index.ends_with(")");
  uint64_t value = 0;
  const char* end = at.index.data() + at.index.size();
  const auto [rest, error] = std::from_chars(at.index.data(), end, value);
  const bool is_constant = error == std::errc() && (rest == end || rest + 1 == end);
  const bool is_sized = at.param.kind == TN_PARAM_ALLOC;
  return is_negative || (is_constant && is_sized && value >= at.param.count) ? "0" : at.index;
}

bool ShaderDialect::is_coded(uint8_t dtype) { return is_narrow_float(dtype); }

uint8_t ShaderDialect::variable_dtype(uint8_t dtype) {
  if (is_coded(dtype)) return TN_DTYPE_U32;
  if (!is_narrow_integer(dtype)) return dtype;
  return is_signed(dtype) ? TN_DTYPE_I32 : TN_DTYPE_U32;
}

std::string ShaderDialect::convert(uint8_t to, const std::string& value) const {
  return fmt::format("{}({})", value_type(to), value);
}

/// Wraps a 32-bit value to the range of a narrow integer.
std::string ShaderDialect::wrap(const std::string& value, uint8_t to) const {
  if (!is_narrow_integer(to)) return value;
  const uint32_t bits = 8 * dtype_bytes(to);
  if (is_signed(to)) return fmt::format("(({0} << {1}u) >> {1}u)", value, 32 - bits);
  return fmt::format("({} & {:#x}u)", value, (1u << bits) - 1);
}

std::string ShaderDialect::truncate(const std::string& value, uint8_t from, uint8_t to) const {
  std::string wide =
      fmt::format("tn_{}_of_{}({})", dtype_text(variable_dtype(to)), dtype_text(from), value);
  if (!is_narrow_integer(to)) return wide;
  const uint32_t bits = 8 * dtype_bytes(to);
  if (!is_signed(to)) return fmt::format("min({}, {}u)", wide, (1u << bits) - 1);
  return fmt::format("clamp({}, -{}, {})", wide, 1 << (bits - 1), (1 << (bits - 1)) - 1);
}

std::string ShaderDialect::cast(const std::string& value, uint8_t from, uint8_t to) const {
  if (from == to) return value;
  if (is_coded(from)) {
    const std::string wide = fmt::format("tn_decode_{}({})", dtype_text(from), value);
    return cast(wide, TN_DTYPE_F32, to);
  }
  if (to == TN_DTYPE_BOOL)
    return fmt::format("({} != {})", value, literal(0, variable_dtype(from)));
  if (is_coded(to)) {
    std::string real = value;
    const bool is_wide = is_integer(from) && dtype_bytes(from) >= 4;
    if (is_wide || from == TN_DTYPE_F64) {
      real = fmt::format("tn_odd_{}({})", dtype_text(from), value);
    } else if (from != TN_DTYPE_F32) {
      real = convert(TN_DTYPE_F32, value);
    }
    return fmt::format("tn_encode_{}({})", dtype_text(to), real);
  }
  if (is_float(from) && is_integer(to)) return truncate(value, from, to);
  if (!is_integer(to) || from == TN_DTYPE_BOOL) return convert(to, value);
  const bool extends_sign = variable_dtype(from) == TN_DTYPE_I32 && to == TN_DTYPE_I64;
  const std::string moved = variable_dtype(from) == variable_dtype(to) ? value
                            : extends_sign ? fmt::format("tn_i64_of_i32({})", value)
                                           : convert(to, value);
  const bool fits = dtype_bytes(from) < dtype_bytes(to) && (!is_signed(from) || is_signed(to));
  return fits ? moved : wrap(moved, to);
}

std::string ShaderDialect::to_bits(const std::string& value, uint8_t from) const {
  if (from == TN_DTYPE_F32) return bits_of_float(value, from);
  if (is_signed(from) && dtype_bytes(from) < 4) {
    return fmt::format("({} & {:#x}u)", convert(TN_DTYPE_U32, value),
                       (1u << 8 * dtype_bytes(from)) - 1);
  }
  return variable_dtype(from) == TN_DTYPE_U32 ? value : convert(TN_DTYPE_U32, value);
}

std::string ShaderDialect::from_bits(const std::string& bits, uint8_t to) const {
  if (to == TN_DTYPE_F32) return float_of_bits(bits, to);
  if (to == TN_DTYPE_BOOL) return fmt::format("({} != 0u)", bits);
  return variable_dtype(to) == TN_DTYPE_U32 ? bits : wrap(convert(TN_DTYPE_I32, bits), to);
}

std::string ShaderDialect::bit_cast(const std::string& value, uint8_t from, uint8_t to) const {
  if (from == to) return value;
  if (dtype_bytes(from) < 8) return from_bits(to_bits(value, from), to);
  if (from != TN_DTYPE_F64 && to != TN_DTYPE_F64) return convert(to, value);
  const std::string bits = from == TN_DTYPE_F64   ? bits_of_float(value, from)
                           : from == TN_DTYPE_U64 ? value
                                                  : convert(TN_DTYPE_U64, value);
  if (to == TN_DTYPE_F64) return float_of_bits(bits, to);
  return to == TN_DTYPE_U64 ? bits : convert(to, bits);
}

/// A float whose lower bits are zero, by the upper word of it (all of it for f32), as a literal.
std::string ShaderDialect::round_literal(uint32_t upper, uint8_t dtype) const {
  const std::string text = literal(dtype == TN_DTYPE_F64 ? uint64_t{upper} << 32 : upper, dtype);
  return text.starts_with('-') ? "(" + text + ")" : text;
}

/// Hides a constant from constant folding in ops whose operands are all constant.
std::string ShaderDialect::materialised(const tn_op& op, const std::string& value) const {
  if (op.op != TN_OP_CONST) return value;
  const auto word = [](uint64_t bits) {
    return fmt::format("tn_opaque({:#x}u)", bits & UINT32_MAX);
  };
  if (dtype_bytes(op.dtype) < 8) return from_bits(word(op.imm), op.dtype);
  const auto half = [&](uint64_t bits) { return convert(TN_DTYPE_U64, word(bits)); };
  return bit_cast(half(op.imm >> 32) + " << 32u | " + half(op.imm), TN_DTYPE_U64, op.dtype);
}

std::string ShaderDialect::opaque_float(uint32_t upper, uint8_t dtype) const {
  const std::string word = fmt::format("tn_opaque({:#x}u)", upper);
  const bool is_wide = dtype == TN_DTYPE_F64;
  return float_of_bits(is_wide ? convert(TN_DTYPE_U64, word) + " << 32u" : word, dtype);
}

/// Mesa's code for CPUs gives 0 for x * 0 and 0 / x, and x for x + 0 and fma(x, 0, y), whatever x
/// is; `precise` does not hold it from that in an fma. A zero may come of a choice whose condition
/// it knows, or of literals alone: see materialised(). And Mesa (22.3 at least) takes c ? -1 : +0
/// for c ? -1 : -0, which it turns into -float(c), and so for all pairs of one and zero whose signs
/// differ.
std::string ShaderDialect::with_zeros(uint16_t op, uint8_t dtype,
                                      std::span<const std::string> operands) const {
  std::vector<std::string> out(operands.begin(), operands.end());
  for (std::string& operand : out) {
    for (uint32_t sign : {0u, kSign}) {
      if (operand == round_literal(sign, dtype)) operand = opaque_float(sign, dtype);
    }
  }
  return Dialect::spell(op, dtype, out);
}

bool ShaderDialect::is_native(OpFamily family) const {
  return (family == OpFamily::POWER && math_.native_exp) ||
         (family == OpFamily::LOG && math_.native_log) ||
         (family == OpFamily::ANGLE && math_.native_sin);
}

/// NEG of a float that is held as bits flips the sign bit, also of NaN.
bool ShaderDialect::computes(uint16_t op, uint8_t dtype) const {
  return op == TN_OP_NEG && is_coded(dtype);
}

std::string ShaderDialect::spell(uint16_t op, uint8_t dtype,
                                 std::span<const std::string> operands) const {
  if (op == TN_OP_NEG && is_coded(dtype)) {
    return fmt::format("{} ^ {:#x}u", operands[0], 1u << (8 * dtype_bytes(dtype) - 1));
  }
  if (is_narrow_integer(dtype)) {
    const std::string value = Dialect::spell(op, variable_dtype(dtype), operands);
    return grows(op) ? wrap("(" + value + ")", dtype) : value;
  }
  if (dtype == TN_DTYPE_F32 && is_native(op_info(op)->family)) {
    return fmt::format("{}({})", op_info(op)->spelling.word, operands[0]);
  }
  const bool is_real = dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64;
  switch (op) {
    case TN_OP_WHERE:
    case TN_OP_ADD:
    case TN_OP_SUB:
    case TN_OP_MUL:
    case TN_OP_FDIV:
    case TN_OP_FMA:
      return is_real ? with_zeros(op, dtype, operands) : Dialect::spell(op, dtype, operands);
    default:
      return Dialect::spell(op, dtype, operands);
  }
}

std::string ShaderDialect::allocation(const ProgramView& program, const tn_param& param,
                                      const AllocationPlace&) const {
  if (param.space == TN_SPACE_SHARED) return {};
  if (param.space != TN_SPACE_REGISTER && param.space != TN_SPACE_SCRATCH) {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("{}: expected an address space that it has", data().name));
  }
  return fill_pattern(data().lanes, {std::string(value_type(static_cast<uint8_t>(param.dtype))),
                                     param_name(program, param),
                                     std::to_string(std::max<uint64_t>(param.count, 1))});
}

std::string ShaderDialect::vector_at(const Element& at, uint32_t lane) const {
  std::string index = index_of(at);
  if (at.index_dtype == TN_DTYPE_I64) index = convert(TN_DTYPE_I32, index);
  const std::string rest = lane ? fmt::format(" + {}", lane / kWide) : "";
  return fmt::format("{}[({} >> 2u){}]", at.memory, index, rest);
}

std::string ShaderDialect::load_lanes(const Element& at, const std::string& lanes,
                                      const tn_op& op) const {
  std::string out;
  for (uint32_t l = 0; is_wide(at.memory) && l < op.lanes; l += kWide) {
    const std::string all =
        fill_pattern(data().definition, {vector_type(at.dtype()), "w", vector_at(at, l)});
    out += fmt::format("{{ {} ", all);
    for (uint32_t k = 0; k < kWide; ++k) out += fmt::format("{}[{}] = w[{}]; ", lanes, l + k, k);
    out += "}\n";
  }
  return out;
}

std::string ShaderDialect::store_lanes(const Element& at, const std::string& lanes, uint32_t count,
                                       const tn_op&) const {
  std::string out;
  for (uint32_t l = 0; is_wide(at.memory) && l < count; l += kWide) {
    out += fmt::format("{0} = {1}({2}[{3}], {2}[{4}], {2}[{5}], {2}[{6}]);\n", vector_at(at, l),
                       vector_type(at.dtype()), lanes, l, l + 1, l + 2, l + 3);
  }
  return out;
}

std::string ShaderDialect::subgroup_statement(const ProgramView& program, const tn_op& op,
                                              const std::string& name,
                                              const std::vector<std::string>& operands) const {
  const auto moved = [&](std::string_view function, const std::string& value,
                         const std::string& by) {
    const bool is_bool = op.dtype == TN_DTYPE_BOOL;
    const std::string of = is_bool ? convert(TN_DTYPE_U32, value) : value;
    const std::string call = fmt::format("{}({}, {})", function, of, by);
    return is_bool ? "(" + call + " != 0u)" : call;
  };
  const bool reduces = op.op == TN_OP_SUBGROUP_REDUCE;
  if (!reduces && op.op != TN_OP_SUBGROUP_SHUFFLE && op.op != TN_OP_SUBGROUP_BROADCAST) refuse(op);
  const auto taken = [&](const std::string& value) {
    if (op.op == TN_OP_SUBGROUP_BROADCAST)
      return moved("subgroupBroadcast", value, fmt::format("{}u", op.imm));
    return moved("subgroupShuffle", value, convert(TN_DTYPE_U32, operands[1]));
  };
  if (!reduces && op.lanes == 1) return define(op, name, taken(operands[0]));
  std::string out = declare(op, name);
  for (uint32_t l = 0; l < op.lanes; ++l) {
    const std::string lane = op.lanes == 1 ? "" : fmt::format("[{}]", l);
    const std::string to = name + lane, from = operands[0] + lane;
    out += fmt::format("\n{} = {};", to, reduces ? from : taken(from));
    // A butterfly, as reductions of the languages leave order and NaN open.
    const auto reduce = static_cast<uint16_t>(op.imm);
    const uint8_t wide = is_coded(op.dtype) ? uint8_t{TN_DTYPE_F32} : op.dtype;
    for (uint32_t across = 1; reduces && across < program.header().subgroup_size; across *= 2) {
      const std::string other = moved("subgroupShuffleXor", to, fmt::format("{}u", across));
      const std::string pair[] = {cast(to, op.dtype, wide), cast(other, op.dtype, wide)};
      out += fmt::format("\n{} = {};", to, cast(spell(reduce, wide, pair), wide, op.dtype));
    }
  }
  return out;
}

}  // namespace tenon::sdk
