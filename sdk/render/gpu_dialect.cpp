// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of elements are moved in accesses of up to 16 bytes. Other constructs call helpers.
#include "sdk/render/gpu_dialect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/program/op_info.hpp"
#include "sdk/program/words.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/gpu_tiles.hpp"
#include "sdk/render/gpu_types.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

using On = Spelling::On;
constexpr Spelling kGpuSpellings[] = {
    {TN_OP_WHERE, On::kAny, "{0} ? {1} : {2}"},
    {TN_OP_ADD, On::kBool, "{0} | {1}"},
    {TN_OP_MUL, On::kBool, "{0} & {1}"},
    {TN_OP_MAX, On::kBool, "{0} | {1}"},
    {TN_OP_MIN, On::kBool, "{0} & {1}"},
    {TN_OP_RECIP, On::kF32, "1.0f / {0}"},
    {TN_OP_RECIP, On::kF64, "1.0 / {0}"},
    {TN_OP_SQRT, On::kF32, "tn_sqrt_f32({0})"},
    {TN_OP_FMA, On::kF32, "tn_fma({0}, {1}, {2})"},
    {TN_OP_FMA, On::kF64, "tn_fma({0}, {1}, {2})"},
};

constexpr Spelling kApproximations[] = {
    {TN_OP_EXP, On::kF32, "tn_fast_exp({0})"},
};

uint64_t threads_of(const ProgramView& program) {
  const uint32_t* size = program.header().workgroup;
  return uint64_t{size[0]} * size[1] * size[2];
}

bool needs_lane(const ProgramView& program) {
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    const bool is_index =
        op.op == TN_OP_INDEX && (op.imm == TN_AXIS_SUBGROUP || op.imm == TN_AXIS_SUBGROUP_LANE);
    if (is_index || op.op == TN_OP_MATRIX_LOAD || op.op == TN_OP_MATRIX_STORE) return true;
  }
  return false;
}

/// Whether the launch never writes the buffer, so that loads may be reordered, also if read-only
/// buffers overlap.
bool is_alone(const ProgramView& program, const tn_param& param) {
  if (param.access & TN_ACCESS_NOALIAS) return true;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const uint32_t access = program.param(i).access;
    if ((access & TN_ACCESS_WRITE) && !(access & TN_ACCESS_NOALIAS)) return false;
  }
  return true;
}

/// Bytes that one access of a run may move: a power of two up to 16 that divides its size, or 0.
uint32_t access_bytes(const tn_param& param, uint32_t lanes, uint32_t flags) {
  const uint32_t bytes = lanes * dtype_bytes(static_cast<uint8_t>(param.dtype));
  const uint32_t unit = std::min(bytes & (~bytes + 1), 16u);
  return (flags & TN_OP_ALIGNED) && unit >= 2 ? unit : 0;
}

}  // namespace

GpuDialect::GpuDialect(const GpuWords& words) : words_(words), data_{} {
  data_.name = words.name;
  data_.type = &DTypeInfo::cuda;
  data_.ops = kCOps;
  data_.spellings = kGpuSpellings;
  data_.approximations = kApproximations;
  data_.float_suffix = "f";
  data_.has_math = true;
  for (int space : {TN_SPACE_GLOBAL, TN_SPACE_CONSTANT}) data_.pointer_space[space] = "";
  data_.array_space[TN_SPACE_SHARED] = "__shared__ ";
  for (int space : {TN_SPACE_REGISTER, TN_SPACE_SCRATCH}) data_.array_space[space] = "";
  constexpr std::string_view kIndex[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                         "threadIdx.x", "threadIdx.y", "threadIdx.z"};
  std::ranges::copy(kIndex, data_.index);
  data_.index[TN_AXIS_SUBGROUP] = "tn_subgroup";
  data_.index[TN_AXIS_SUBGROUP_LANE] = "tn_lane";
  data_.barrier[TN_SCOPE_SUBGROUP] = words.subgroup_barrier;
  data_.barrier[TN_SCOPE_BLOCK] = "__syncthreads();";
  data_.lanes = "alignas(16) {0} {1}[{2}];";
  data_.lane_loop = "_Pragma(\"unroll\") for (int l = 0; l < {0}; ++l) {1}";
  data_.loop_hint = "#pragma unroll";
  data_.contracts = true;
  data_.has_plain_integers = true;
}

bool has_dynamic_shared(const ProgramView& program, const Dialect& dialect) {
  const auto* gpu = dynamic_cast<const GpuDialect*>(&dialect);
  return gpu && program.header().shared_bytes > gpu->words().static_shared_bytes;
}

std::string GpuDialect::prelude(const ProgramView&, std::string_view kernel) const {
  return "#define TN static __device__ __forceinline__\n" +
         used_gpu_helpers(kernel, words_.helpers);
}

std::string GpuDialect::header(const ProgramView& program) const {
  std::string params;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const std::string_view type = memory_type(static_cast<uint8_t>(param.dtype));
    const std::string name = param_name(program, param);
    if (!params.empty()) params += ", ";
    params += param.kind == TN_PARAM_SCALAR
                  ? fmt::format("const {} {}", type, name)
                  : fmt::format("{}{}*{} {}", param.access & TN_ACCESS_WRITE ? "" : "const ", type,
                                is_alone(program, param) ? " __restrict__" : "", name);
  }
  std::string out = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n",
                                threads_of(program), function_name(program), params);
  if (has_dynamic_shared(program, *this)) {
    out += "  extern __shared__ __attribute__((aligned(1024))) tn_b16 tn_dynamic_shared[];\n";
  }
  if (needs_lane(program)) {
    const uint32_t* size = program.header().workgroup;
    const uint32_t width = program.header().subgroup_size;
    const std::string lanes = width ? std::to_string(width) : "warpSize";
    out += "  const unsigned tn_thread = threadIdx.x";
    if (size[1] * size[2] > 1) out += fmt::format(" + {} * threadIdx.y", size[0]);
    if (size[2] > 1) out += fmt::format(" + {} * threadIdx.z", size[0] * size[1]);
    out += fmt::format(
        ";\n  const unsigned tn_subgroup = tn_thread / {0}, tn_lane = tn_thread % {0};\n", lanes);
  }
  return out;
}

std::string GpuDialect::literal(uint64_t bits, uint8_t dtype) const {
  return gpu_literal(bits, dtype);
}
/// NEG of a narrow float flips its sign bit, as NaN computed in f32 would lose its sign.
bool GpuDialect::computes(uint16_t op, uint8_t dtype) const {
  return op == TN_OP_NEG || Dialect::computes(op, dtype);
}
std::string GpuDialect::cast(const std::string& value, uint8_t from, uint8_t to) const {
  return gpu_cast(value, from, to);
}
std::string GpuDialect::bit_cast(const std::string& value, uint8_t from, uint8_t to) const {
  return gpu_bit_cast(value, from, to);
}

std::string GpuDialect::allocation(const ProgramView& program, const tn_param& param,
                                   const AllocationPlace& place) const {
  if (param.space == TN_SPACE_SHARED && has_dynamic_shared(program, *this)) {
    return fmt::format("{0}* const {1} = ({0}*)((char*)tn_dynamic_shared + {2});",
                       memory_type(static_cast<uint8_t>(param.dtype)), param_name(program, param),
                       place.offset);
  }
  return fmt::format("alignas({}) {}", std::max(param.alignment, 16u),
                     Dialect::allocation(program, param, place));
}

std::string GpuDialect::load_lanes(const Element& at, const std::string& lanes,
                                   const tn_op& op) const {
  const uint32_t unit = access_bytes(at.param, op.lanes, op.flags);
  const uint32_t step = unit / dtype_bytes(at.dtype());
  const std::string_view pattern =
      op.flags & TN_OP_STREAM && unit >= 4 ? words_.stream_load : "tn_move_{2}({0}, {1});";
  std::string out;
  for (uint32_t l = 0; unit && l < op.lanes; l += step) {
    out += fill_pattern(pattern, {fmt::format("{} + {}", lanes, l),
                                  fmt::format("{} + {} + {}", at.memory, at.index, l),
                                  std::to_string(unit)}) +
           "\n";
  }
  return out;
}

std::string GpuDialect::store(const Element& at, const std::string& value, const tn_op& op) const {
  if (!at.follows_store || words_.orders_stores) return Dialect::store(at, value, op);
  return fmt::format("((volatile {}*){})[{}] = {};", memory_type(at.dtype()), at.memory, at.index,
                     value);
}

std::string GpuDialect::store_lanes(const Element& at, const std::string& lanes, uint32_t count,
                                    const tn_op& op) const {
  const uint32_t unit = access_bytes(at.param, count, op.flags);
  const uint32_t step = unit / dtype_bytes(at.dtype());
  const std::string_view pattern =
      op.flags & TN_OP_STREAM && unit >= 4 ? words_.stream_store : "tn_move_{2}({0}, {1});";
  std::string out;
  for (uint32_t l = 0; unit && l < count; l += step) {
    out += fill_pattern(pattern, {fmt::format("{} + {} + {}", at.memory, at.index, l),
                                  fmt::format("{} + {}", lanes, l), std::to_string(unit)}) +
           "\n";
  }
  return out;
}

std::string GpuDialect::atomic(const Element& at, const std::vector<std::string>& values,
                               const tn_op& op) const {
  if (dtype_bytes(op.dtype) < 4) refuse(op);
  std::string call =
      fmt::format("tn_atomic_{}_{}(&{}[{}]", words::text_of(words::kAtomics, op.imm & 0xff),
                  dtype_text(op.dtype), at.memory, at.index);
  for (const std::string& value : values) call += ", " + value;
  return call + ")";
}

std::string GpuDialect::barrier(const ProgramView& program, const tn_op& op) const {
  const std::string plain = Dialect::barrier(program, op);
  return uses_tiles(program, words_.atoms) ? gpu_tile_barrier(op, plain) : plain;
}

std::string GpuDialect::statement(const ProgramView& program, const tn_op& op,
                                  const std::string& name,
                                  const std::vector<std::string>& operands) const {
  switch (op.op) {
    case TN_OP_SUBGROUP_SHUFFLE:
      return subgroup_statement(program, op, name, operands[0], operands[1]);
    case TN_OP_SUBGROUP_BROADCAST:
      return subgroup_statement(program, op, name, operands[0], std::to_string(op.imm));
    case TN_OP_SUBGROUP_REDUCE:
      return subgroup_statement(program, op, name, operands[0], "");
    case TN_OP_MATRIX_LOAD:
    case TN_OP_MATRIX_MULTIPLY:
    case TN_OP_MATRIX_STORE:
      for (const GpuAtom& atom : words_.atoms) {
        if (atom.atom.id != static_cast<uint32_t>(op.imm)) continue;
        const bool is_store = op.op == TN_OP_MATRIX_STORE;
        const bool is_accumulator = (op.imm & TN_MATRIX_ROLE) == TN_MATRIX_C;
        if (atom.atom.scope != TN_SCOPE_BLOCK)
          return gpu_matrix_statement(program, op, atom, name, operands);
        if (is_store)
          return gpu_tile_wait(operands[3], program.op(program.operands(op)[3]).lanes) +
                 gpu_matrix_statement(program, op, atom, name, operands);
        return is_accumulator ? gpu_matrix_statement(program, op, atom, name, operands)
                              : gpu_tile_statement(program, op, atom, name, operands);
      }
      break;
    case TN_OP_ASYNC_COPY:
      return fmt::format("tn_copy_async_{}({} + {}, {} + {});", op.imm, operands[0], operands[1],
                         operands[2], operands[3]);
    case TN_OP_ASYNC_COMMIT:
      return "tn_async_commit();";
    case TN_OP_ASYNC_WAIT:
      return fmt::format("tn_async_wait<{}>();", op.imm);
  }
  refuse(op);
}

/// Handles each lane of a vector separately. An empty `lane` means a reduction, else it is a
/// shuffle or broadcast.
std::string GpuDialect::subgroup_statement(const ProgramView& program, const tn_op& op,
                                           const std::string& name, const std::string& value,
                                           const std::string& lane) const {
  const std::string type(value_type(op.dtype));
  const bool is_vector = op.lanes > 1;
  std::string out = fill_pattern(is_vector ? data_.lanes : data_.variable,
                                 {type, name, std::to_string(op.lanes)}) +
                    "\n";
  const std::string to = is_vector ? name + "[l]" : name;
  const std::string from = is_vector ? value + "[l]" : value;
  const auto each = [&](const std::string& statement) {
    out += (is_vector ? fill_pattern(data_.lane_loop, {std::to_string(op.lanes), statement})
                      : statement) +
           "\n";
  };
  const auto moved = [&](std::string_view pattern, const std::string& of, const std::string& by) {
    return fmt::format("({}){}", type, fill_pattern(pattern, {of, by}));
  };
  const bool is_narrow = is_float(op.dtype) && dtype_bytes(op.dtype) < 4;
  if (lane.empty() && is_narrow) refuse(op);  // the core widens dtypes that are not claimed
  if (!lane.empty()) {
    each(fmt::format("{} = {};", to, moved(words_.shuffle, from, lane)));
    return out;
  }
  each(fmt::format("{} = {};", to, from));
  for (uint32_t bit = program.header().subgroup_size / 2; bit; bit /= 2) {
    const std::string operands[] = {to, moved(words_.shuffle_across, to, std::to_string(bit))};
    each(fmt::format("{} = {};", to, spell(static_cast<uint16_t>(op.imm), op.dtype, operands)));
  }
  return out;
}

}  // namespace tenon::sdk
