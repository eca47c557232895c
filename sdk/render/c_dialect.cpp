// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C dialect.
#include "sdk/render/c_dialect.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

using On = Spelling::On;
constexpr Spelling kCSpellings[] = {
    {TN_OP_WHERE, On::kAny, "{0} ? {1} : {2}"}, {TN_OP_ADD, On::kBool, "{0} | {1}"},
    {TN_OP_MUL, On::kBool, "{0} & {1}"},        {TN_OP_MAX, On::kBool, "{0} | {1}"},
    {TN_OP_MIN, On::kBool, "{0} & {1}"},        {TN_OP_RECIP, On::kF32, "1.0f / {0}"},
    {TN_OP_RECIP, On::kF64, "1.0 / {0}"},
};

DialectData make_c_data() {
  DialectData data = {};
  data.name = "c";
  data.type = &DTypeInfo::c;
  data.ops = kCOps;
  data.spellings = kCSpellings;
  data.float_suffix = "f";
  data.has_math = true;
  for (int space : {TN_SPACE_GLOBAL, TN_SPACE_CONSTANT}) data.pointer_space[space] = "";
  for (int space : {TN_SPACE_SHARED, TN_SPACE_REGISTER, TN_SPACE_SCRATCH}) {
    data.array_space[space] = "";
  }
  constexpr std::string_view kThread[] = {"thread[0]", "thread[1]", "thread[2]",
                                          "thread[3]", "thread[4]", "thread[5]"};
  for (int axis = 0; axis < 6; ++axis) data.index[axis] = kThread[axis];
  data.index[TN_AXIS_CPU_THREAD] = "0";
  return data;
}

constexpr std::string_view kBegin = R"(#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float tn_bits_f32(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static inline double tn_bits_f64(uint64_t b) { double f; memcpy(&f, &b, 8); return f; }
static inline uint32_t tn_bits_of_f32(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
static inline uint64_t tn_bits_of_f64(double f) { uint64_t b; memcpy(&b, &f, 8); return b; }

)";

}  // namespace

CDialect::CDialect() : data_(make_c_data()) {}

std::string CDialect::prelude(const ProgramView&, std::string_view) const {
  return std::string(kBegin).append(c_helpers());
}

std::string CDialect::header(const ProgramView& program) const {
  std::string out = fmt::format(
      "void {}(void* const* arguments, const uint32_t* thread) {{\n  (void)arguments;\n"
      "  (void)thread;\n",
      function_name(program));
  for (uint32_t i = 0, argument = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const std::string_view type = memory_type(static_cast<uint8_t>(param.dtype));
    const std::string name = param_name(program, param);
    const std::string_view constant = param.access & TN_ACCESS_WRITE ? "" : "const ";
    const std::string_view alone = param.access & TN_ACCESS_NOALIAS ? " restrict" : "";
    out +=
        param.kind == TN_PARAM_BUFFER
            ? fmt::format("  {0}{1}*{2} const {3} = ({0}{1}*)arguments[{4}];\n", constant, type,
                          alone, name, argument)
            : fmt::format("  const {0} {1} = *(const {0}*)arguments[{2}];\n", type, name, argument);
    out += fmt::format("  (void){};\n", name);
    ++argument;
  }
  return out;
}

std::string CDialect::literal(uint64_t bits, uint8_t dtype) const {
  if (dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64) {
    const double value = to_double(bits, dtype);
    if (std::isfinite(value)) return fmt::format("{:a}{}", value, dtype == TN_DTYPE_F32 ? "f" : "");
    return fmt::format("tn_bits_{}({:#x})", dtype_text(dtype), bits);
  }
  if (is_signed(dtype)) {
    const auto value = static_cast<int64_t>(convert(bits, dtype, TN_DTYPE_I64));
    if (value == INT64_MIN) return "(-INT64_C(0x7fffffffffffffff) - 1)";
    return dtype == TN_DTYPE_I64 ? fmt::format("INT64_C({})", value) : fmt::format("{}", value);
  }
  return dtype == TN_DTYPE_U64 ? fmt::format("UINT64_C({})", bits) : fmt::format("{}u", bits);
}

bool CDialect::computes(uint16_t op, uint8_t) const {
  return op == TN_OP_NEG;  // computed in f32, NaN would lose its bits
}

std::string CDialect::cast(const std::string& value, uint8_t from, uint8_t to) const {
  if (from == to) return value;
  const std::string wide =
      is_narrow_float(from) ? fmt::format("tn_decode_{}({})", dtype_text(from), value) : value;
  if (to == TN_DTYPE_BOOL) return fmt::format("(uint8_t)(({}) != 0)", wide);
  if (is_narrow_float(to)) {
    const bool is_large = is_integer(from) && dtype_bytes(from) == 8;
    const std::string odd = is_large ? fmt::format("tn_odd_{}({})", dtype_text(from), value) : wide;
    return fmt::format("tn_encode_{}({})", dtype_text(to), odd);
  }
  if (is_float(from) && is_integer(to)) {
    return fmt::format("tn_saturate_{}({})", dtype_text(to), wide);
  }
  return fmt::format("({})({})", value_type(to), wide);
}

std::string CDialect::bit_cast(const std::string& value, uint8_t from, uint8_t to) const {
  const bool from_real = from == TN_DTYPE_F32 || from == TN_DTYPE_F64;
  const bool to_real = to == TN_DTYPE_F32 || to == TN_DTYPE_F64;
  if (from == to) return value;
  const std::string bits =
      from_real ? fmt::format("tn_bits_of_{}({})", dtype_text(from), value) : value;
  if (to == TN_DTYPE_BOOL) return fmt::format("(uint8_t)({} != 0)", bits);
  if (to_real) return fmt::format("tn_bits_{}({})", dtype_text(to), bits);
  return fmt::format("({})({})", value_type(to), bits);
}

std::string CDialect::allocation(const ProgramView& program, const tn_param& param,
                                 const AllocationPlace& place) const {
  const uint32_t* size = program.header().workgroup;
  if (param.space == TN_SPACE_SHARED && size[0] * size[1] * size[2] > 1) {
    throw Failure(TN_ERROR_UNSUPPORTED, "c: threads of a workgroup share no memory");
  }
  return fmt::format("_Alignas({}) {}", param.alignment,
                     Dialect::allocation(program, param, place));
}

const Dialect& c_dialect() {
  static const auto& dialect = *new CDialect();
  return dialect;
}

}  // namespace tenon::sdk
