// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects params, ops and operands, and writes them into one block.
#include "sdk/program/builder.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::sdk {
namespace {

constexpr size_t align_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

}  // namespace

Program::Program(const void* bytes, size_t size) : words_(align_up(size, 16) / 16), size_(size) {
  if (size) std::memcpy(words_.data(), bytes, size);
}

uint32_t ProgramBuilder::string(std::string_view text) {
  const auto offset = static_cast<uint32_t>(data_.size());
  data_.append(text).push_back('\0');
  return offset;
}

ProgramBuilder::Value ProgramBuilder::buffer(std::string_view name, tn_dtype dtype, uint32_t access,
                                             uint64_t count, uint32_t alignment, tn_space space) {
  params_.push_back({TN_PARAM_BUFFER, uint32_t(dtype), uint32_t(space), access, count,
                     alignment ? alignment : std::max(dtype_bytes(uint8_t(dtype)), 1u),
                     string(name), 0, 0});
  return op(TN_OP_PARAM, dtype, 1, {}, params_.size() - 1);
}

ProgramBuilder::Value ProgramBuilder::scalar(std::string_view name, tn_dtype dtype, int64_t minimum,
                                             int64_t maximum) {
  params_.push_back({TN_PARAM_SCALAR, uint32_t(dtype), TN_SPACE_CONSTANT, TN_ACCESS_READ, 1,
                     std::max(dtype_bytes(uint8_t(dtype)), 1u), string(name), minimum, maximum});
  return op(TN_OP_PARAM, dtype, 1, {}, params_.size() - 1);
}

ProgramBuilder::Value ProgramBuilder::allocate(std::string_view name, tn_dtype dtype,
                                               tn_space space, uint64_t count, uint32_t alignment) {
  params_.push_back({TN_PARAM_ALLOC, uint32_t(dtype), uint32_t(space),
                     TN_ACCESS_READ | TN_ACCESS_WRITE | TN_ACCESS_NOALIAS, count,
                     alignment ? alignment : std::max(dtype_bytes(uint8_t(dtype)), 1u),
                     string(name), 0, 0});
  return op(TN_OP_PARAM, dtype, 1, {}, params_.size() - 1);
}

ProgramBuilder::Value ProgramBuilder::constant(tn_dtype dtype, uint64_t bits, uint16_t lanes) {
  return op(TN_OP_CONST, dtype, lanes, {}, bits);
}

ProgramBuilder::Value ProgramBuilder::index(tn_axis axis, tn_dtype dtype, uint16_t lanes) {
  return op(TN_OP_INDEX, dtype, lanes, {}, axis);
}

ProgramBuilder::Value ProgramBuilder::op(tn_opcode op, tn_dtype dtype, uint16_t lanes,
                                         std::span<const Value> operands, uint64_t imm,
                                         uint32_t flags) {
  tn_op row = {};
  row.op = static_cast<uint16_t>(op);
  row.lanes = lanes;
  row.dtype = static_cast<uint8_t>(dtype);
  row.operand_count = static_cast<uint16_t>(operands.size());
  row.operands = static_cast<uint32_t>(operands_.size());
  row.flags = flags;
  row.imm = imm;
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  ops_.push_back(row);
  return static_cast<Value>(ops_.size() - 1);
}

ProgramBuilder::Value ProgramBuilder::op(tn_opcode op, tn_dtype dtype, uint16_t lanes,
                                         std::initializer_list<Value> operands, uint64_t imm,
                                         uint32_t flags) {
  return this->op(op, dtype, lanes, std::span(operands.begin(), operands.size()), imm, flags);
}

ProgramBuilder::Value ProgramBuilder::begin_loop(Value begin, Value end, Value step,
                                                 std::span<const Value> initial, uint32_t flags) {
  std::vector<Value> operands = {begin, end, step};
  operands.insert(operands.end(), initial.begin(), initial.end());
  const auto dtype = static_cast<tn_dtype>(at(begin).dtype);
  const Value loop = op(TN_OP_LOOP, dtype, 1, operands, 0, flags);
  for (size_t k = 0; k < initial.size(); ++k) {
    const tn_op& from = at(operands[3 + k]);
    op(TN_OP_CARRY, static_cast<tn_dtype>(from.dtype), from.lanes, {loop}, k);
  }
  return loop;
}

void ProgramBuilder::begin_if(Value condition) { op(TN_OP_IF, TN_DTYPE_VOID, 0, {condition}); }
void ProgramBuilder::begin_else() { op(TN_OP_ELSE, TN_DTYPE_VOID, 0, {}); }
void ProgramBuilder::end(std::span<const Value> operands) {
  op(TN_OP_END, TN_DTYPE_VOID, 0, operands);
}

void ProgramBuilder::workgroup(uint32_t x, uint32_t y, uint32_t z) {
  workgroup_[0] = x;
  workgroup_[1] = y;
  workgroup_[2] = z;
}

Program ProgramBuilder::finish() const {
  const std::string data = data_ + name_ + '\0';
  tn_program header = {};
  header.magic = TN_PROGRAM_MAGIC;
  header.version = TN_PROGRAM_VERSION;
  header.header_size = sizeof(tn_program);
  size_t end = sizeof(tn_program);
  const auto place = [&end](uint32_t& offset, size_t bytes, size_t alignment) {
    end = align_up(end, alignment);
    offset = static_cast<uint32_t>(end);
    end += bytes;
  };
  header.param_count = static_cast<uint32_t>(params_.size());
  header.param_stride = sizeof(tn_param);
  header.op_count = op_count();
  header.op_stride = sizeof(tn_op);
  header.operand_count = static_cast<uint32_t>(operands_.size());
  header.data_size = static_cast<uint32_t>(data.size());
  place(header.params, params_.size() * sizeof(tn_param), 16);
  place(header.ops, ops_.size() * sizeof(tn_op), 16);
  place(header.operands, operands_.size() * sizeof(uint32_t), 4);
  place(header.data, data.size(), 1);
  header.name = header.data + static_cast<uint32_t>(data_.size());
  header.total_size = static_cast<uint32_t>(end);
  std::copy(workgroup_, workgroup_ + 3, header.workgroup);
  header.subgroup_size = subgroup_size_;

  std::vector<unsigned char> bytes(end);
  std::vector<tn_param> params = params_;
  for (tn_param& param : params) param.name += header.data;
  const auto copy = [&bytes](size_t offset, const void* from, size_t size) {
    if (size) std::memcpy(bytes.data() + offset, from, size);
  };
  copy(0, &header, sizeof header);
  copy(header.params, params.data(), params.size() * sizeof(tn_param));
  copy(header.ops, ops_.data(), ops_.size() * sizeof(tn_op));
  copy(header.operands, operands_.data(), operands_.size() * sizeof(uint32_t));
  copy(header.data, data.data(), data.size());
  Program program(bytes.data(), bytes.size());

  const std::vector<AllocationPlace> places = allocation_places(program.view());
  for (size_t i = 0; i < places.size(); ++i) {
    const auto last = static_cast<uint32_t>(places[i].offset + places[i].bytes);
    if (params[i].space == TN_SPACE_SHARED) header.shared_bytes = last;
    if (params[i].space == TN_SPACE_SCRATCH) header.scratch_bytes = last;
  }
  copy(0, &header, sizeof header);
  return Program(bytes.data(), bytes.size());
}

}  // namespace tenon::sdk
