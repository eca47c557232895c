// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The WGSL dialect.
#include "sdk/render/wgsl_dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/scalar_layout.hpp"
#include "sdk/render/shader_helpers.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

using On = Spelling::On;
constexpr auto kWgslSpellings = with_shader_spellings({
    {TN_OP_CMPNE, On::kF32, "!({0} == {1})"},  // naga's != is false for NaN
    {TN_OP_WHERE, On::kAny, "select({2}, {1}, {0})"},
    {TN_OP_RECIP, On::kF32, "1.0f / {0}"},
});

constexpr DialectData make_wgsl_data() {
  DialectData data = shader_data();
  data.name = "wgsl";
  data.type = &DTypeInfo::wgsl;
  data.ops = kWgslOps;
  data.spellings = kWgslSpellings;
  data.index[TN_AXIS_GRID_X] = "grid.x";
  data.index[TN_AXIS_GRID_Y] = "grid.y";
  data.index[TN_AXIS_GRID_Z] = "grid.z";
  data.index[TN_AXIS_BLOCK_X] = "block.x";
  data.index[TN_AXIS_BLOCK_Y] = "block.y";
  data.index[TN_AXIS_BLOCK_Z] = "block.z";
  data.index[TN_AXIS_SUBGROUP] = "(thread / subgroup)";
  data.index[TN_AXIS_SUBGROUP_LANE] = "(thread % subgroup)";
  data.definition = "let {1}: {0} = {2};";
  data.variable = "var {1}: {0};";
  data.initial = "var {1}: {0} = {2};";
  data.lanes = "var {1}: array<{0}, {2}>;";
  data.loop = "for (var {1}: {0} = {2}; {1} < {3};{4}) {";
  return data;
}
constexpr DialectData kWgslData = make_wgsl_data();

class WgslDialect : public ShaderDialect {
 public:
  WgslDialect(const ProgramView& program, const WgslOptions& options)
      : ShaderDialect(program, options.math) {
    for (uint32_t i = 0; i < program.op_count(); ++i) {
      const tn_op& op = program.op(i);
      find_reassociable(program, i);
      if (op.op != TN_OP_ATOMIC) continue;
      const tn_op& memory = program.op(program.operands(op)[0]);
      const std::string name =
          param_name(program, program.param(static_cast<uint32_t>(memory.imm)));
      atomics_.insert(name);
      if ((op.imm & 0xff) == TN_ATOMIC_COMPARE_EXCHANGE) exchanged_.insert(name);
    }
  }
  const DialectData& data() const override { return kWgslData; }

  /// Empty for dtypes packed in words.
  std::string_view memory_type(uint8_t dtype) const override {
    const std::string_view type = value_type(dtype);
    return dtype_bytes(dtype) == 4 ? type : std::string_view();
  }

  std::string prelude(const ProgramView& program, std::string_view kernel) const override {
    const std::string out = used_helpers(wgsl_helpers(), kernel);
    const bool is_opaque = calls(kernel, "tn_opaque") || calls(out, "tn_opaque");
    return is_opaque ? opaque(program) + out : out;
  }

  std::string materialised(const tn_op& op, const std::string& value) const override {
    return reassociable_.contains(&op) ? "tn_exact(" + value + ")"
                                       : ShaderDialect::materialised(op, value);
  }

  std::string spell(uint16_t op, uint8_t dtype,
                    std::span<const std::string> operands) const override {
    if (!is_sum(op, dtype)) return ShaderDialect::spell(op, dtype, operands);
    std::vector<std::string> apart(operands.begin(), operands.end());
    for (std::string& operand : apart) {
      if (carries_.contains(operand.substr(0, operand.find('['))))
        operand = "tn_exact(" + operand + ")";
    }
    return ShaderDialect::spell(op, dtype, apart);
  }

  std::string header(const ProgramView& program) const override {
    std::string out, locals;
    uint32_t binding = 0;
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind != TN_PARAM_BUFFER) continue;
      out += fmt::format("@group(0) @binding({}) var<storage, read_write> {}: array<{}>;\n",
                         binding++, param_name(program, param), element_type(program, param));
    }
    out += scalars(program, locals);
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind != TN_PARAM_ALLOC || param.space != TN_SPACE_SHARED) continue;
      const std::string name = param_name(program, param);
      out += fmt::format("var<workgroup> {}: array<{}, {}>;\n", name, element_type(program, param),
                         std::max<uint64_t>(is_wide(name) ? param.count / 4 : param.count, 1));
    }
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (exchanged_.contains(param_name(program, param))) out += exchange(program, param);
    }
    const uint32_t* size = program.header().workgroup;
    std::string thread;
    if (const uint32_t threads = program.header().subgroup_size) {
      // Implementations agree on the threads of a subgroup only if it is part of a row.
      if (size[0] % threads)
        throw Failure(TN_ERROR_UNSUPPORTED,
                      fmt::format("wgsl: expected rows of whole subgroups of {} threads, got {}",
                                  threads, size[0]));
      thread = ", @builtin(local_invocation_index) thread: u32";
      locals += fmt::format("  const subgroup = {}u;\n", threads);
    }
    return out +
           fmt::format(
               "\n@compute @workgroup_size({}, {}, {})\n"
               "fn {}(@builtin(workgroup_id) grid: vec3<u32>, @builtin(local_invocation_id) block: "
               "vec3<u32>{}) {{\n",
               size[0], size[1], size[2], function_name(program), thread) +
           locals;
  }

  std::string literal(uint64_t bits, uint8_t dtype) const override {
    value_type(dtype);  // throws for unsupported dtypes
    if (dtype == TN_DTYPE_BOOL) return bits ? "true" : "false";
    if (dtype == TN_DTYPE_F32) {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (std::isnormal(value) || bits == 0) return decimal(value) + "f";
      // Constant expressions must not be infinite or NaN.
      const std::string word = fmt::format("{:#x}u", bits);
      return float_of_bits(std::isfinite(value) ? word : "tn_opaque(" + word + ")", dtype);
    }
    if (is_signed(dtype)) {
      const auto value = static_cast<int64_t>(sdk::convert(bits, dtype, TN_DTYPE_I64));
      return value == INT32_MIN ? "i32(-2147483648)" : fmt::format("{}", value);
    }
    return is_float(dtype) ? fmt::format("{:#x}u", bits) : fmt::format("{}u", bits);
  }

  std::string load(const Element& at, const tn_op&) const override {
    if (!atomics_.contains(at.memory)) return element(at);
    return of_word(fmt::format("atomicLoad(&{})", element(at)), at.dtype());
  }
  std::string store(const Element& at, const std::string& value, const tn_op&) const override {
    if (!atomics_.contains(at.memory)) return fmt::format("{} = {};", element(at), value);
    return fmt::format("atomicStore(&{}, {});", element(at), to_word(value, at.dtype()));
  }

  std::string atomic(const Element& at, const std::vector<std::string>& values,
                     const tn_op& op) const override {
    constexpr std::string_view kNames[] = {"", "atomicAdd", "atomicMin", "atomicMax",
                                           "atomicExchange"};
    const uint64_t kind = op.imm & 0xff;
    const bool moves = kind >= TN_ATOMIC_EXCHANGE;
    if (!moves && at.dtype() != TN_DTYPE_I32 && at.dtype() != TN_DTYPE_U32) refuse(op);
    const std::string value = to_word(values[0], at.dtype());
    if (kind == TN_ATOMIC_COMPARE_EXCHANGE) {
      return of_word(fmt::format("exchange_{}({}, {}, {})", at.memory, at.index, value,
                                 to_word(values[1], at.dtype())),
                     at.dtype());
    }
    return of_word(fmt::format("{}(&{}, {})", kNames[kind], element(at), value), at.dtype());
  }

  std::string statement(const ProgramView& program, const tn_op& op, const std::string& name,
                        const std::vector<std::string>& operands) const override {
    return subgroup_statement(program, op, name, operands);
  }

  std::string barrier(const ProgramView& program, const tn_op& op) const override {
    if (op.imm != TN_SCOPE_BLOCK) refuse(op);
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind == TN_PARAM_BUFFER && (param.access & kBoth) == kBoth)
        return "workgroupBarrier();\nstorageBarrier();";
    }
    return "workgroupBarrier();";
  }

 protected:
  std::string vector_type(uint8_t dtype) const override {
    return fmt::format("vec4<{}>", value_type(dtype));
  }
  std::string float_of_bits(const std::string& bits, uint8_t) const override {
    return fmt::format("bitcast<f32>({})", bits);
  }
  std::string bits_of_float(const std::string& value, uint8_t) const override {
    return fmt::format("bitcast<u32>({})", value);
  }

 private:
  /// Atomic elements are words, so floats are exchanged as bits.
  std::string to_word(const std::string& value, uint8_t dtype) const {
    return dtype == TN_DTYPE_F32 ? bits_of_float(value, dtype) : value;
  }
  std::string of_word(const std::string& value, uint8_t dtype) const {
    return dtype == TN_DTYPE_F32 ? float_of_bits(value, dtype) : value;
  }
  static std::string element(const Element& at) {
    return fmt::format("{}[{}]", at.memory, index_of(at));
  }

  static bool is_sum(uint16_t op, uint8_t dtype) {
    return dtype == TN_DTYPE_F32 && (op == TN_OP_ADD || op == TN_OP_SUB || op == TN_OP_MUL);
  }
  /// WGSL lets compilers reassociate, as (x + y) - x to y. So operands of a sum or product that are
  /// sums or products, also across iterations of an unrolled loop, go through tn_exact.
  void find_reassociable(const ProgramView& program, uint32_t i) {
    const tn_op& op = program.op(i);
    if (op.op == TN_OP_CARRY && op.dtype == TN_DTYPE_F32) carries_.insert(value_name(i));
    if (!is_sum(op.op, op.dtype) && op.op != TN_OP_NEG && op.op != TN_OP_FMA) return;
    for (uint32_t operand : program.operands(op)) {
      const tn_op& from = program.op(operand);
      if (is_sum(from.op, from.dtype)) reassociable_.insert(&from);
    }
  }

  /// A binding has at least one element, but no compiler uses that.
  static std::string opaque(const ProgramView& program) {
    std::string zero = "0u";
    for (uint32_t i = program.param_count(); i-- > 0;) {
      const tn_param& param = program.param(i);
      if (param.kind != TN_PARAM_BUFFER) continue;
      zero = fmt::format("select(0u, 1u, arrayLength(&{}) == 0u)", param_name(program, param));
    }
    return fmt::format("fn tn_opaque(x: u32) -> u32 {{\n  return x | {};\n}}\n\n", zero);
  }

  std::string element_type(const ProgramView& program, const tn_param& param) const {
    const auto dtype = static_cast<uint8_t>(param.dtype);
    std::string type(memory_type(dtype));
    if (type.empty()) {
      throw Failure(TN_ERROR_UNSUPPORTED,
                    fmt::format("wgsl: param {}: expected memory in 32-bit words, got {}",
                                program.string(param.name), dtype_text(dtype)));
    }
    if (is_wide(param_name(program, param))) return vector_type(dtype);
    if (!atomics_.contains(param_name(program, param))) return type;
    return dtype == TN_DTYPE_F32 ? "atomic<u32>" : "atomic<" + type + ">";
  }

  /// A compare-exchange loop, as that of the language may fail spuriously.
  std::string exchange(const ProgramView& program, const tn_param& param) const {
    const std::string type = param.dtype == TN_DTYPE_I32 ? "i32" : "u32";
    return fill_pattern(R"(
fn exchange_{0}(i: i32, value: {1}, compare: {1}) -> {1} {
  var old: {1} = atomicLoad(&{0}[i]);
  while (old == compare) {
    let found = atomicCompareExchangeWeak(&{0}[i], compare, value);
    old = found.old_value;
    if (found.exchanged) { break; }
  }
  return old;
}
)",
                        {param_name(program, param), type});
  }

  std::string scalars(const ProgramView& program, std::string& locals) const {
    const ScalarLayout layout = scalar_layout(program);
    if (layout.bytes == 0) return {};
    std::string out = "struct Scalars {\n";
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind != TN_PARAM_SCALAR) continue;
      const auto dtype = static_cast<uint8_t>(param.dtype);
      const bool is_whole = dtype_bytes(dtype) >= 4;
      const std::string name = param_name(program, param);
      out += fmt::format("  {}: {},\n", name, is_whole ? value_type(dtype) : "u32");
      const std::string field = "scalars." + name;
      locals += fmt::format("  let {}: {} = {};\n", name, value_type(dtype),
                            is_whole ? field : from_bits(field, dtype));
    }
    return out + fmt::format("}}\n@group(0) @binding({}) var<uniform> scalars: Scalars;\n",
                             buffer_count(program));
  }

  std::set<std::string> atomics_;        ///< memory that ATOMICs touch
  std::set<std::string> exchanged_;      ///< the part of it that needs exchange()
  std::set<std::string> carries_;        ///< of f32
  std::set<const tn_op*> reassociable_;  ///< sums and products used by sums and products
};

}  // namespace

std::string print_wgsl(const ProgramView& program, const WgslOptions& options) {
  return print_source(program, WgslDialect(program, options));
}

}  // namespace tenon::sdk
