// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/render/glsl_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sdk/program/op_info.hpp"
#include "sdk/program/verify_cooperation.hpp"
#include "sdk/render/gpu_matrix.hpp"
#include "sdk/render/shader_helpers.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

/// By the upper byte of an id; the other bytes are m, n and k.
constexpr uint32_t kDtypes[][3] = {
    {TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F32}, {TN_DTYPE_BF16, TN_DTYPE_BF16, TN_DTYPE_F32},
    {TN_DTYPE_I8, TN_DTYPE_I8, TN_DTYPE_I32},   {TN_DTYPE_U8, TN_DTYPE_U8, TN_DTYPE_I32},
    {TN_DTYPE_U8, TN_DTYPE_I8, TN_DTYPE_I32},   {TN_DTYPE_I8, TN_DTYPE_U8, TN_DTYPE_I32},
    {TN_DTYPE_U8, TN_DTYPE_U8, TN_DTYPE_U32}};

struct Shape {
  uint32_t rows, columns;
};

uint32_t role_of(uint64_t role) { return static_cast<uint32_t>((role & TN_MATRIX_ROLE) >> 32); }
uint8_t dtype_of(uint64_t role) {
  return static_cast<uint8_t>(kDtypes[(role & kMatrixAtomBits) >> 24][role_of(role)]);
}
Shape shape_of(uint64_t role) {
  const auto size = [&](int at) { return static_cast<uint32_t>(role >> (8 * at)) & 0xff; };
  const uint32_t m = size(0), n = size(1), k = size(2);
  return {role_of(role) == 1 ? k : m, role_of(role) == 0 ? k : n};
}
std::string suffix(uint64_t role) {
  return fmt::format("{:x}_{}", role & kMatrixAtomBits, role_of(role));
}
std::string type_name(uint64_t role) { return "tn_matrix_" + suffix(role); }
uint64_t role_at(const tn_op& op) {
  return kMatrixFragment | (op.imm & (kMatrixAtomBits | TN_MATRIX_ROLE));
}

/// Instructions on all elements at once. Float sums could be contracted with products.
struct Elementwise {
  uint16_t op;
  int of_floats, of_integers;  ///< 0: none
};
constexpr Elementwise kElementwise[] = {
    {TN_OP_MUL, 133, 132}, {TN_OP_ADD, 0, 128}, {TN_OP_SUB, 0, 130}, {TN_OP_NEG, 127, 126}};

int instruction(const Elementwise& row, uint8_t dtype) {
  return is_float(dtype) ? row.of_floats : row.of_integers;
}

const tn_param& memory_of(const ProgramView& program, const tn_op& op) {
  return program.param(static_cast<uint32_t>(program.op(program.operands(op)[0]).imm));
}

/// Capabilities: CooperativeMatrixKHR (6022), and of the elements BFloat16CooperativeMatrixKHR,
/// Float16 or Int8. OpTypeCooperativeMatrixKHR (4456) has elements, scope (3: the subgroup), sizes
/// and role.
std::string type_declaration(uint64_t role) {
  const uint8_t dtype = dtype_of(role);
  const Shape shape = shape_of(role);
  const std::string_view more = dtype == TN_DTYPE_BF16    ? ", 5118"
                                : dtype == TN_DTYPE_F16   ? ", 9"
                                : dtype_bytes(dtype) == 1 ? ", 39"
                                                          : "";
  return fmt::format(
      "#define {} spirv_type(extensions = [\"SPV_KHR_cooperative_matrix\"{}], "
      "capabilities = [6022{}], id = 4456, {}u, 3u, {}u, {}u, {}u)\n",
      type_name(role), dtype == TN_DTYPE_BF16 ? ", \"SPV_KHR_bfloat16\"" : "", more, dtype,
      shape.rows, shape.columns, role_of(role));
}

}  // namespace

std::optional<tn_matrix_atom> glsl_atom(uint32_t m, uint32_t n, uint32_t k, uint32_t a, uint32_t b,
                                        uint32_t accumulator, uint32_t subgroup,
                                        bool keeps_denormals) {
  const uint32_t dtypes[] = {a, b, accumulator};
  const auto* kind = std::ranges::find_if(
      kDtypes, [&](const auto& row) { return std::ranges::equal(row, dtypes); });
  const bool fits = std::max({m, n, k}) <= 0xff && subgroup && m * k % subgroup == 0 &&
                    k * n % subgroup == 0 && m * n % subgroup == 0;
  if (kind == std::end(kDtypes) || !fits) return std::nullopt;
  tn_matrix_atom atom = TN_INIT(tn_matrix_atom);
  atom.id = m | n << 8 | k << 16 | static_cast<uint32_t>(kind - kDtypes) << 24;
  atom.m = m, atom.n = n, atom.k = k;
  atom.a_dtype = a, atom.b_dtype = b, atom.accumulator_dtype = accumulator;
  atom.scope = TN_SCOPE_SUBGROUP;
  atom.subgroup = subgroup;
  atom.a_lanes = m * k / subgroup, atom.b_lanes = k * n / subgroup;
  atom.c_lanes = m * n / subgroup;
  if (accumulator == TN_DTYPE_F32)  // Vulkan does not specify the accuracy of sums
    atom.numerics = TN_ATOM_TRUNCATES | (keeps_denormals ? 0 : TN_ATOM_FLUSHES_SUBNORMALS);
  return atom;
}

GlslMatrices::GlslMatrices(const ProgramView& program) : program_(program) {
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (!is_matrix_op(op.op)) continue;
    is_learning_ = true;
    if ((op.imm & kMatrixAtomBits) >> 24 >= std::size(kDtypes))
      throw Failure(TN_ERROR_UNSUPPORTED,
                    fmt::format("glsl: has no words for matrix atom {}", op.imm & kMatrixAtomBits));
  }
  if (!is_learning_) return;
  ends_ = region_closes(program);
  zeros_ = known_zero_bits(program);
  roles_.resize(program.op_count());
  while (is_learning_) {
    is_learning_ = false;
    for (uint32_t i = 0; i < program.op_count(); ++i) learn_from(i);
  }
}

/// Sets the role of a value. Constants and scalars used for all elements have none.
void GlslMatrices::learn(uint32_t value, uint64_t role) {
  const tn_op& op = program_.op(value);
  if (!role || roles_[value] || op.op == TN_OP_CONST || op.op == TN_OP_BROADCAST) return;
  roles_[value] = role;
  is_learning_ = true;
}

void GlslMatrices::learn_from(uint32_t i) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  if (op.op == TN_OP_MATRIX_LOAD) return learn(i, role_at(op));
  if (op.op == TN_OP_MATRIX_STORE) return learn(operands[3], role_at(op));
  if (op.op == TN_OP_MATRIX_MULTIPLY) {
    for (uint64_t k = 0; k < 3; ++k) learn(operands[k], role_at(op) | k << 32);
    return learn(i, role_at(op) | TN_MATRIX_C);
  }
  if (op.op == TN_OP_LOOP) {
    const auto next = program_.operands(program_.op(ends_[i]));
    for (uint32_t k = 3; k < operands.size(); ++k) {
      const uint32_t carry = i + k - 2;
      learn(carry, roles_[operands[k]] | roles_[next[k - 3]]);
      learn(operands[k], roles_[carry]);
      learn(next[k - 3], roles_[carry]);
    }
  }
  if (!is_elementwise(*op_info(op.op))) return;
  for (uint32_t value : operands) learn(i, roles_[value]);
  for (uint32_t value : operands) learn(value, roles_[i]);
}

std::string GlslMatrices::type(uint32_t value) const {
  return empty() || !roles_[value] ? std::string() : type_name(roles_[value]);
}

/// Operand types are opaque, so operands can only be loaded from memory.
std::string GlslMatrices::fragment(uint64_t role, uint32_t value, const std::string& name) const {
  if (roles_[value]) return name;
  if (role_of(role) != 2)
    throw Failure(TN_ERROR_UNSUPPORTED, "glsl: expected operands of a matrix from memory");
  return fmt::format("tn_fill_{}({}[0])", suffix(role), name);
}

std::string GlslMatrices::statement(const tn_op& op, const std::string& name,
                                    const std::vector<std::string>& operands) const {
  const auto values = program_.operands(op);
  if (op.op == TN_OP_MATRIX_STORE) {
    return fmt::format("tn_store_{}({}, {}, {});", suffix(role_at(op)), place(op, operands),
                       fragment(role_at(op), values[3], operands[3]), order(op, operands));
  }
  const uint64_t role = roles_[static_cast<size_t>(&op - &program_.op(0))];
  const auto all = [&](bool is_product) {
    std::string out;
    for (uint64_t k = 0; k < values.size(); ++k) {
      const uint64_t of = is_product ? (role & ~TN_MATRIX_ROLE) | k << 32 : role;
      out += (k ? ", " : "") + fragment(of, values[k], operands[k]);
    }
    return out;
  };
  const auto defined = [&](const std::string& value) {
    return fmt::format("{} {} = {};", type_name(role), name, value);
  };
  if (op.op == TN_OP_MATRIX_LOAD) {
    return defined(
        fmt::format("tn_load_{}({}, {})", suffix(role), place(op, operands), order(op, operands)));
  }
  if (op.op == TN_OP_MATRIX_MULTIPLY) {
    const auto* dtypes = kDtypes[(role & kMatrixAtomBits) >> 24];
    const auto sign = [&](size_t k, int bits) {
      return is_signed(static_cast<uint8_t>(dtypes[k])) ? bits : 0;
    };
    return defined(fmt::format("tn_multiply_{}({}, {})", suffix(role), all(true),
                               sign(0, 1) | sign(1, 2) | sign(2, 12)));
  }
  for (const Elementwise& row : kElementwise) {
    if (row.op == op.op && role_of(role) == 2 && instruction(row, op.dtype)) {
      return defined(fmt::format("tn_{}_{}({})", op_text(op.op), suffix(role), all(false)));
    }
  }
  throw Failure(TN_ERROR_UNSUPPORTED,
                fmt::format("glsl: has no words for {} of a fragment", op_text(op.op)));
}

/// A reference to the first element in memory.
std::string GlslMatrices::place(const tn_op& op, const std::vector<std::string>& operands) const {
  const uint32_t index = program_.operands(op)[1];
  const bool is_wide = program_.op(index).dtype == TN_DTYPE_I64;
  return fmt::format("{}[{}]", operands[0], is_wide ? "int(" + operands[1] + ")" : operands[1]);
}

/// Layout, stride and memory access operands, for data shared by the workgroup.
std::string GlslMatrices::order(const tn_op& op, const std::vector<std::string>& operands) const {
  require_alignment(op);
  const tn_param& param = memory_of(program_, op);
  const bool is_transposed = op.imm & TN_MATRIX_TRANSPOSED;
  // NonPrivatePointer, and MakePointerVisible or MakePointerAvailable to the workgroup or the queue
  // family, as glslang emits for other accesses.
  const int access = 32 | (op.op == TN_OP_MATRIX_LOAD ? 16 : 8);
  return fmt::format("{}u, int({}), {}, {}u", is_transposed ? 1 : 0, operands[2], access,
                     param.space == TN_SPACE_SHARED ? 2 : 5);
}

/// Vulkan requires alignment to 16 bytes or a row of the matrix in memory, whichever is less.
void GlslMatrices::require_alignment(const tn_op& op) const {
  const uint64_t role = role_at(op);
  const tn_param& param = memory_of(program_, op);
  const uint32_t size = dtype_bytes(dtype_of(role));
  const Shape shape = shape_of(role);
  const uint32_t row = op.imm & TN_MATRIX_TRANSPOSED ? shape.rows : shape.columns;
  const uint32_t bytes = std::min(16u, row * size);
  const auto operands = program_.operands(op);
  const auto known = [&](uint32_t value) { return (uint64_t{size} << zeros_[value]) >= bytes; };
  const bool is_placed = param.space == TN_SPACE_SHARED || param.alignment >= bytes;
  if (is_placed && known(operands[1]) && known(operands[2]) && !(op.imm & TN_MATRIX_LINES)) return;
  throw Failure(
      TN_ERROR_UNSUPPORTED,
      fmt::format("glsl: {}: expected rows that are aligned to {} bytes", op_text(op.op), bytes));
}

std::string GlslMatrices::declarations(std::string_view kernel) const {
  std::set<uint64_t> used(roles_.begin(), roles_.end());
  for (uint32_t i = 0; i < program_.op_count(); ++i) {
    const tn_op& op = program_.op(i);
    if (op.op == TN_OP_MATRIX_STORE) used.insert(role_at(op));
    for (uint64_t k = 0; k < 3 && op.op == TN_OP_MATRIX_MULTIPLY; ++k)
      used.insert(role_at(op) | k << 32);
  }
  used.erase(0);
  std::string out;
  for (const uint64_t role : used) {
    const std::string type = type_name(role);
    const DTypeInfo& info = *dtype_info(dtype_of(role));
    const auto declare = [&](int instruction, std::string_view of, std::string_view word,
                             const std::string& params) {
      const std::string name = fmt::format("tn_{}_{}", word, suffix(role));
      if (calls(kernel, name))
        out +=
            fmt::format("spirv_instruction(id = {}) {} {}({});\n", instruction, of, name, params);
    };
    const std::string at =
        fmt::format("spirv_by_reference {} at", info.bytes == 4 ? info.glsl : info.c);
    const std::string order = "uint order, int stride, spirv_literal int access, uint scope";
    out += type_declaration(role);
    // OpCompositeConstruct, and instructions of the extension.
    declare(80, type, "fill", fmt::format("{} element", info.glsl));
    declare(4457, type, "load", at + ", " + order);
    declare(4458, "void", "store", fmt::format("{}, {} x, {}", at, type, order));
    for (const Elementwise& row : kElementwise) {
      const bool is_binary = row.op != TN_OP_NEG;
      declare(instruction(row, info.dtype), type, op_text(row.op),
              is_binary ? fmt::format("{0} x, {0} y", type) : type + " x");
    }
    declare(
        4459, type, "multiply",
        fmt::format("{} a, {} b, {} c, spirv_literal int signs", type_name(role & ~TN_MATRIX_ROLE),
                    type_name((role & ~TN_MATRIX_ROLE) | TN_MATRIX_B), type));
  }
  return out;
}

}  // namespace tenon::sdk
