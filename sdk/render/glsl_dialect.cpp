// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GLSL dialect.
#include "sdk/render/glsl_dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/glsl_matrix.hpp"
#include "sdk/render/scalar_layout.hpp"
#include "sdk/render/shader_helpers.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

using On = Spelling::On;
constexpr auto kGlslSpellings = with_shader_spellings({
    {TN_OP_CMPNE, On::kF32, "!({0} == {1})"},
    {TN_OP_CMPNE, On::kF64, "!({0} == {1})"},
    {TN_OP_WHERE, On::kAny, "{0} ? {1} : {2}"},
    {TN_OP_NEG, On::kF64, "-{0}"},
    {TN_OP_RECIP, On::kF32, "1.0 / {0}"},
    {TN_OP_RECIP, On::kF64, "1.0lf / {0}"},
    // Where the processor has no AVX-512, Mesa's gives large numbers back as they are and loses the
    // sign of a zero.
    {TN_OP_TRUNC, On::kF64, "tn_trunc_f64({0})"},
});

constexpr DialectData make_glsl_data(bool keeps_loops) {
  DialectData data = shader_data();
  data.name = "glsl";
  if (keeps_loops) data.roll_hint = "[[dont_unroll]]";
  data.type = &DTypeInfo::glsl;
  data.ops = kGlslOps;
  data.spellings = kGlslSpellings;
  data.index[TN_AXIS_GRID_X] = "gl_WorkGroupID.x";
  data.index[TN_AXIS_GRID_Y] = "gl_WorkGroupID.y";
  data.index[TN_AXIS_GRID_Z] = "gl_WorkGroupID.z";
  data.index[TN_AXIS_BLOCK_X] = "gl_LocalInvocationID.x";
  data.index[TN_AXIS_BLOCK_Y] = "gl_LocalInvocationID.y";
  data.index[TN_AXIS_BLOCK_Z] = "gl_LocalInvocationID.z";
  data.index[TN_AXIS_SUBGROUP] = "gl_SubgroupID";
  data.index[TN_AXIS_SUBGROUP_LANE] = "gl_SubgroupInvocationID";
  data.definition = "{0} {1} = {2};";
  return data;
}
constexpr DialectData kGlslData = make_glsl_data(false), kGlslRolledData = make_glsl_data(true);

/// An extension that a word in the text requires.
struct Extension {
  std::string_view word, name;
  std::string_view other = {};  ///< a second word that must occur too
};
constexpr Extension kExtensions[] = {
    {"int8_t", "GL_EXT_shader_8bit_storage"},
    {"int16_t", "GL_EXT_shader_16bit_storage"},
    {"shared int8_t", "GL_EXT_shader_explicit_arithmetic_types_int8"},
    {"shared uint8_t", "GL_EXT_shader_explicit_arithmetic_types_int8"},
    {"shared int16_t", "GL_EXT_shader_explicit_arithmetic_types_int16"},
    {"shared uint16_t", "GL_EXT_shader_explicit_arithmetic_types_int16"},
    {"int64_t", "GL_EXT_shader_explicit_arithmetic_types_int64"},
    {"BitsToUint64", "GL_EXT_shader_explicit_arithmetic_types_int64"},
    {"gl_Subgroup", "GL_KHR_shader_subgroup_basic"},
    {"subgroupBarrier", "GL_KHR_shader_subgroup_basic"},
    {"subgroupShuffle", "GL_KHR_shader_subgroup_shuffle"},
    {"subgroupBroadcast", "GL_KHR_shader_subgroup_ballot"},
    {"subgroup", "GL_EXT_shader_subgroup_extended_types_int64", "int64_t"},
    {"spirv_execution_mode", "GL_EXT_spirv_intrinsics"},
    {"spirv_type", "GL_EXT_spirv_intrinsics"},
    {"spirv_type", "GL_KHR_memory_scope_semantics"},
    {"spirv_by_reference int8_t", "GL_EXT_shader_explicit_arithmetic_types_int8"},
    {"spirv_by_reference uint8_t", "GL_EXT_shader_explicit_arithmetic_types_int8"},
    {"spirv_by_reference uint16_t", "GL_EXT_shader_explicit_arithmetic_types_int16"},
    {"[[dont_unroll]]", "GL_EXT_control_flow_attributes"},
};

bool has_real_type(uint8_t dtype) { return dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64; }

/// Ops that a driver may merge with others. For 1 / (x * (1 / y)) that gives y * (1 / x), which is
/// 0 where x is beyond 2^126.
constexpr uint16_t kMerged[] = {TN_OP_ADD, TN_OP_SUB,   TN_OP_MUL,
                                TN_OP_FMA, TN_OP_RECIP, TN_OP_FDIV};

bool is_merged(const tn_op& op) {
  return has_real_type(op.dtype) && std::ranges::find(kMerged, op.op) != std::end(kMerged);
}

class GlslDialect : public ShaderDialect {
 public:
  GlslDialect(const ProgramView& program, const GlslOptions& options)
      : ShaderDialect(program, options.math), options_(options), matrices_(program) {
    for (uint32_t i = 0; i < program.op_count(); ++i) {
      has_barrier_ |= program.op(i).op == TN_OP_BARRIER;
    }
  }
  const DialectData& data() const override {
    return options_.keeps_loops ? kGlslRolledData : kGlslData;
  }

  /// Types with explicit sizes.
  std::string_view memory_type(uint8_t dtype) const override {
    const std::string_view type = value_type(dtype);
    return dtype_bytes(dtype) == 4 ? type : dtype_info(dtype)->c;
  }

  std::string prelude(const ProgramView&, std::string_view kernel) const override {
    std::string text = used_helpers(glsl_helpers(), kernel);
    if (!matrices_.empty()) text += matrices_.declarations(kernel);
    const std::string modes = execution_modes();
    const auto uses = [&](std::string_view word) {
      return kernel.find(word) != kernel.npos || text.find(word) != text.npos ||
             modes.find(word) != modes.npos;
    };
    std::string out = "#version 450\n";
    if (!matrices_.empty()) out += "#pragma use_vulkan_memory_model\n";
    std::string_view last;
    for (const Extension& extension : kExtensions) {
      if (!uses(extension.word) || !uses(extension.other) || extension.name == last) continue;
      out += fmt::format("#extension {} : require\n", extension.name);
      last = extension.name;
    }
    return out + modes + "\n" + text;
  }

  std::string header(const ProgramView& program) const override {
    const uint32_t* size = program.header().workgroup;
    std::string out =
        fmt::format("layout(local_size_x = {}, local_size_y = {}, local_size_z = {}) in;\n",
                    size[0], size[1], size[2]);
    uint32_t binding = 0;
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind == TN_PARAM_BUFFER) out += buffer(program, param, binding++);
    }
    std::string locals;
    out += scalars(program, locals);
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind != TN_PARAM_ALLOC || param.space != TN_SPACE_SHARED) continue;
      const std::string name = param_name(program, param);
      out += fmt::format("shared {} {}[{}];\n", element_type(name, param), name,
                         std::max<uint64_t>(is_wide(name) ? param.count / 4 : param.count, 1));
    }
    return out + "\nvoid main() {\n" + locals;
  }

  std::string literal(uint64_t bits, uint8_t dtype) const override {
    if (dtype == TN_DTYPE_BOOL) return bits ? "true" : "false";
    if (dtype == TN_DTYPE_F32) {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      const bool is_plain = std::isnormal(value) || bits == 0;
      return is_plain ? decimal(value) : float_of_bits(fmt::format("{:#x}u", bits), dtype);
    }
    if (dtype == TN_DTYPE_F64) {
      const auto value = std::bit_cast<double>(bits);
      const bool is_plain = std::isnormal(value) || bits == 0;
      // Built from two words, as a device with f64 may lack 64-bit integers.
      return is_plain ? decimal(value) + "lf"
                      : fmt::format("packDouble2x32(uvec2({:#x}u, {:#x}u))",
                                    static_cast<uint32_t>(bits), bits >> 32);
    }
    if (is_signed(dtype)) {
      const auto value = static_cast<int64_t>(convert_bits(bits, dtype));
      if (dtype == TN_DTYPE_I64 && value == INT64_MIN) return "int64_t(0x8000000000000000ul)";
      if (dtype == TN_DTYPE_I32 && value == INT32_MIN) return "int(0x80000000u)";
      return fmt::format("{}{}", value, dtype == TN_DTYPE_I64 ? "l" : "");
    }
    if (is_float(dtype)) return fmt::format("{:#x}u", bits);
    return fmt::format("{}{}", bits, dtype == TN_DTYPE_U64 ? "ul" : "u");
  }

  std::string define(const tn_op& op, const std::string& name,
                     const std::string& value) const override {
    return (is_merged(op) ? "precise " : "") + Dialect::define(op, name, value);
  }
  std::string declare(const tn_op& of, const std::string& name) const override {
    return (has_real_type(of.dtype) ? "precise " : "") + Dialect::declare(of, name);
  }

  std::string load(const Element& at, const tn_op&) const override {
    std::string value = element(at);
    const uint8_t dtype = at.dtype();
    if (is_private(at) || value_type(dtype) == memory_type(dtype)) return value;
    if (dtype == TN_DTYPE_BOOL) return fmt::format("(uint({}) != 0u)", value);
    return convert(dtype, value);
  }
  /// If a mask is constant, drivers see the zero: see with_zeros().
  std::string fill(const tn_op& op, const std::string& value) const override {
    if (!is_float(op.dtype) || value != literal(0, op.dtype)) return value;
    return has_real_type(op.dtype) ? opaque_float(0, op.dtype)
                                   : fmt::format("tn_opaque({})", value);
  }
  std::string store(const Element& at, const std::string& value, const tn_op&) const override {
    const uint8_t dtype = at.dtype();
    if (is_private(at) || value_type(dtype) == memory_type(dtype))
      return fmt::format("{} = {};", element(at), value);
    const std::string bits = dtype == TN_DTYPE_BOOL ? fmt::format("uint({})", value) : value;
    return fmt::format("{} = {}({});", element(at), memory_type(dtype), bits);
  }

  std::string atomic(const Element& at, const std::vector<std::string>& values,
                     const tn_op& op) const override {
    constexpr std::string_view kNames[] = {"",
                                           "atomicAdd({0}, {1})",
                                           "atomicMin({0}, {1})",
                                           "atomicMax({0}, {1})",
                                           "atomicExchange({0}, {1})",
                                           "atomicCompSwap({0}, {2}, {1})"};
    const uint8_t dtype = at.dtype();
    if (!is_integer(dtype) || dtype_bytes(dtype) < 4) refuse(op);
    std::vector<std::string> operands = {element(at)};
    operands.insert(operands.end(), values.begin(), values.end());
    return fill_pattern(kNames[op.imm & 0xff], operands);
  }

  std::string barrier(const ProgramView& program, const tn_op& op) const override {
    if (op.imm == TN_SCOPE_SUBGROUP) return "subgroupBarrier();";
    bool is_written = false;
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      is_written |= param.kind == TN_PARAM_BUFFER && is_exchanged(param);
    }
    return is_written ? "memoryBarrierBuffer();\nbarrier();" : "barrier();";
  }

  std::string statement(const ProgramView& program, const tn_op& op, const std::string& name,
                        const std::vector<std::string>& operands) const override {
    const bool is_matrix = is_matrix_op(op.op);
    if (is_matrix || is_elementwise(*op_info(op.op)))
      return matrices_.statement(op, name, operands);
    return subgroup_statement(program, op, name, operands);
  }
  std::string fragment_type(uint32_t value) const override { return matrices_.type(value); }
  std::string fragment(uint32_t like, uint32_t value, const std::string& name) const override {
    return matrices_.fragment_like(like, value, name);
  }

 protected:
  std::string vector_type(uint8_t dtype) const override {
    return dtype == TN_DTYPE_F32 ? "vec4" : dtype == TN_DTYPE_I32 ? "ivec4" : "uvec4";
  }
  std::string float_of_bits(const std::string& bits, uint8_t to) const override {
    return fmt::format("{}({})", to == TN_DTYPE_F64 ? "uint64BitsToDouble" : "uintBitsToFloat",
                       bits);
  }
  std::string bits_of_float(const std::string& value, uint8_t from) const override {
    return fmt::format("{}({})", from == TN_DTYPE_F64 ? "doubleBitsToUint64" : "floatBitsToUint",
                       value);
  }

 private:
  std::string element_type(const std::string& memory, const tn_param& param) const {
    const auto dtype = static_cast<uint8_t>(param.dtype);
    return is_wide(memory) ? vector_type(dtype) : std::string(memory_type(dtype));
  }
  static uint64_t convert_bits(uint64_t bits, uint8_t dtype) {
    return sdk::convert(bits, dtype, TN_DTYPE_I64);
  }
  static std::string element(const Element& at) {
    const std::string index = index_of(at);
    if (at.index_dtype == TN_DTYPE_I64) return fmt::format("{}[int({})]", at.memory, index);
    return fmt::format("{}[{}]", at.memory, index);
  }
  static bool is_private(const Element& at) {
    return at.param.space == TN_SPACE_REGISTER || at.param.space == TN_SPACE_SCRATCH;
  }
  /// Whether threads may read data of the buffer that others of their workgroup wrote.
  bool is_exchanged(const tn_param& param) const {
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    return has_barrier_ && (param.access & kBoth) == kBoth;
  }

  std::string buffer(const ProgramView& program, const tn_param& param, uint32_t binding) const {
    std::string access = param.access & TN_ACCESS_NOALIAS ? "restrict " : "";
    if (!(param.access & TN_ACCESS_WRITE)) access += "readonly ";
    if (!(param.access & TN_ACCESS_READ)) access += "writeonly ";
    if (is_exchanged(param)) access += "coherent ";
    const std::string name = param_name(program, param);
    return fmt::format("layout(set = 0, binding = {}, std430) {}buffer Buffer{} {{ {} {}[]; }};\n",
                       binding, access, binding, element_type(name, param), name);
  }

  /// The block of push constants. `locals` gets conversions of narrow values from their bits.
  std::string scalars(const ProgramView& program, std::string& locals) const {
    const ScalarLayout layout = scalar_layout(program);
    if (layout.bytes == 0) return {};
    std::string out = "layout(push_constant, std430) uniform Scalars {\n";
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind != TN_PARAM_SCALAR) continue;
      const auto dtype = static_cast<uint8_t>(param.dtype);
      const bool is_whole = dtype_bytes(dtype) >= 4;
      const std::string name = param_name(program, param);
      out += fmt::format("  layout(offset = {}) {} {}{};\n", layout.offsets[i],
                         is_whole ? value_type(dtype) : "uint", name, is_whole ? "" : "_bits");
      if (!is_whole) {
        locals += fmt::format("  {} {} = {};\n", value_type(dtype), name,
                              from_bits(name + "_bits", dtype));
      }
    }
    return out + "};\n";
  }

  /// All widths in one mode, which sdk/spirv/module.hpp splits.
  std::string execution_modes() const {
    // Capability and mode numbers of SPV_KHR_float_controls.
    std::string out;
    const auto add = [&](const FloatWidths& widths, int capability, int mode) {
      std::string all;
      for (const auto& [is_set, width] :
           {std::pair(widths.f16, 16), std::pair(widths.f32, 32), std::pair(widths.f64, 64)}) {
        if (is_set) all += fmt::format(", {}", width);
      }
      if (all.empty()) return;
      out += fmt::format(
          "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [{}], "
          "{}{});\n",
          capability, mode, all);
    };
    FloatWidths denormals = options_.preserves_denormals;
    denormals.f16 = denormals.f16 && !matrices_.empty();
    add(denormals, 4464, 4459);
    add(options_.preserves_specials, 4466, 4461);
    add(options_.rounds_to_even, 4467, 4462);
    return out;
  }

  GlslOptions options_;
  GlslMatrices matrices_;
  bool has_barrier_ = false;
};

}  // namespace

std::string print_glsl(const ProgramView& program, const GlslOptions& options) {
  return print_source(program, GlslDialect(program, options));
}

}  // namespace tenon::sdk
