// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/model_cooperation.hpp"

#include <algorithm>
#include <utility>

#include "core/support/error.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::programs {

bool CooperationModel::run_other(uint32_t i, const Mask& mask) {
  const uint16_t op = program_.op(i).op;
  if (op >= TN_OP_ASYNC_COPY && op <= TN_OP_ASYNC_WAIT) {
    op == TN_OP_ASYNC_COPY ? copy_later(i, mask) : arrive(i, mask);
    return true;
  }
  if (op < TN_OP_MATRIX_LOAD || op > TN_OP_MATRIX_STORE) return false;
  each_subgroup(i, mask, [&](uint32_t first) {
    op == TN_OP_MATRIX_MULTIPLY ? multiply(i, first) : access(i, first);
  });
  return true;
}

// ---- Copies ------------------------------------------------------------------------------------

/// The source is read at once, and must not change until the copy arrives.
void CooperationModel::copy_later(uint32_t i, const Mask& mask) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  const auto count =
      static_cast<int64_t>(op.imm / sdk::dtype_bytes(program_.op(operands[0]).dtype));
  for (uint32_t t = 0; t < threads_; ++t) {
    if (!mask[t]) continue;
    const auto place = [&](uint32_t memory, uint32_t index) {
      const int64_t first = counter(i, index, t);
      const auto size = static_cast<int64_t>(memory_of(memory, t).size());
      if (first < 0 || first + count > size || first % count != 0)
        refuse(i, fmt::format("{} aligned elements of {}, got element {}", count, size, first));
      return static_cast<size_t>(first);
    };
    const size_t to = place(operands[0], operands[1]), from = place(operands[2], operands[3]);
    for (size_t k = 0; k < static_cast<size_t>(count); ++k) {
      ModelValue value;
      if (!memory_of(operands[2], t).read(from + k, thread_id(t), value))
        refuse(i, "no other thread that writes there meanwhile");
      copies_.push_back({&memory_of(operands[0], t), to + k, value, t});
    }
  }
}

/// Groups are of the whole workgroup here, as all its threads close and await them together.
void CooperationModel::arrive(uint32_t i, const Mask& mask) {
  const tn_op& op = program_.op(i);
  if (std::ranges::find(mask, 0) != mask.end()) refuse(i, "all threads of the workgroup");
  if (op.op == TN_OP_ASYNC_COMMIT) {
    groups_.push_back(std::exchange(copies_, {}));
    return;
  }
  while (groups_.size() > op.imm) {
    for (const LateCopy& copy : groups_.front())
      if (!copy.to->write(copy.at, thread_id(copy.thread), copy.value))
        refuse(i, "no other thread that touches it meanwhile");
    groups_.erase(groups_.begin());
  }
}

// ---- Matrices ----------------------------------------------------------------------------------

const tn_matrix_atom& CooperationModel::atom(uint32_t i) const {
  const auto id = static_cast<uint32_t>(program_.op(i).imm);
  for (const tn_matrix_atom& one : atoms_)
    if (one.id == id && one.scope != TN_SCOPE_THREAD &&
        one.subgroup == program_.header().subgroup_size)
      return one;
  refuse(i, "an atom of the device, of a subgroup");
}

CooperationModel::Shape CooperationModel::shape_of(uint32_t i, uint64_t role) const {
  const tn_matrix_atom& a = atom(i);
  const bool is_group = a.scope == TN_SCOPE_BLOCK;
  if (role == TN_MATRIX_A) return {a.m, a.k, a.a_lanes, a.a_dtype, is_group};
  if (role == TN_MATRIX_B) return {a.k, a.n, a.b_lanes, a.b_dtype, is_group};
  return {a.m, a.n, a.c_lanes, a.accumulator_dtype};
}

ModelValue& CooperationModel::element(uint32_t value, uint32_t first, uint32_t e) {
  const uint32_t lanes = program_.op(value).lanes;
  return at(value, first + e / lanes, e % lanes);
}

void CooperationModel::spread(uint32_t value, uint32_t first, uint32_t count) {
  const uint32_t all = program_.op(value).lanes * program_.header().subgroup_size;
  for (uint32_t e = count; e < all; ++e)
    element(value, first, e) = element(value, first, e % count);
}

CooperationModel::Place CooperationModel::place_of(uint32_t i, uint32_t first) {
  const auto operands = program_.operands(program_.op(i));
  const int64_t index = counter(i, operands[1], first), stride = counter(i, operands[2], first);
  for (uint32_t t = first; t < first + program_.header().subgroup_size; ++t)
    if (counter(i, operands[1], t) != index || counter(i, operands[2], t) != stride)
      refuse(i, "one index and one stride in the subgroup");
  return {&memory_of(operands[0], first), program_.op(i).imm, index, stride};
}

size_t CooperationModel::cell(uint32_t i, const Place& place, const Shape& shape, int64_t row,
                              int64_t column) const {
  if (place.imm & TN_MATRIX_TRANSPOSED) std::swap(row, column);
  int64_t at = place.index + row * place.stride + column;
  if (place.imm & TN_MATRIX_LINES) {
    const int64_t bytes = sdk::dtype_bytes(static_cast<uint8_t>(shape.dtype));
    const int64_t line = 128 / bytes, piece = 16 / bytes;
    if (place.index % piece != 0 || place.index / line % 8 != 0)
      refuse(i, "an index of 16 whole bytes in the first of eight lines");
    if (place.stride % (8 * line) != 0) refuse(i, "a stride of eight lines");
    at = place.index + column / line * place.stride + row * line + column % line;
    at ^= at / line % 8 * piece;
  }
  if (at < 0 || static_cast<size_t>(at) >= place.memory->size())
    refuse(i, fmt::format("an element below {}, got {}", place.memory->size(), at));
  return static_cast<size_t>(at);
}

void CooperationModel::access(uint32_t i, uint32_t first) {
  const tn_op& op = program_.op(i);
  const bool is_load = op.op == TN_OP_MATRIX_LOAD;
  const Shape shape = shape_of(i, op.imm & TN_MATRIX_ROLE);
  const Place place = place_of(i, first);
  if (shape.is_place != ((op.imm & TN_MATRIX_LINES) != 0))
    refuse(i, "rows cut into lines for the operands of an atom of several subgroups alone");
  if (shape.is_place) {
    const auto param = static_cast<uint32_t>(program_.op(program_.operands(op)[0]).imm);
    if (!is_load || program_.param(param).space != TN_SPACE_SHARED)
      refuse(i, "operands that are loaded from shared memory");
    places_[{i, first}] = place;
    return;
  }
  const uint32_t fragment = is_load ? i : program_.operands(op)[3];
  for (uint32_t e = 0; e < shape.rows * shape.columns; ++e) {
    const size_t at = cell(i, place, shape, e / shape.columns, e % shape.columns);
    // The whole subgroup does it: no thread of it may come in between without a barrier.
    const ThreadId who = thread_id(first);
    ModelValue& value = element(fragment, first, e);
    if (is_load ? !place.memory->read(at, who, value) : !place.memory->write(at, who, value))
      refuse(i, "no other thread that touches it meanwhile");
  }
  if (is_load) spread(i, first, shape.rows * shape.columns);
}

std::vector<ModelValue> CooperationModel::operand(uint32_t i, uint32_t value, uint64_t role,
                                                  uint32_t first) {
  const Shape shape = shape_of(i, role);
  std::vector<ModelValue> out(size_t{shape.rows} * shape.columns);
  if (!shape.is_place) {
    for (uint32_t e = 0; e < out.size(); ++e) out[e] = element(value, first, e);
    return out;
  }
  const auto found = places_.find({value, first});
  if (found == places_.end()) refuse(i, "operands that were loaded");
  const uint32_t last = first + program_.header().subgroup_size - 1;
  for (uint32_t e = 0; e < out.size(); ++e) {
    const size_t at = cell(i, found->second, shape, e / shape.columns, e % shape.columns);
    // By several threads: so nobody writes there before the next barrier.
    for (const uint32_t thread : {first, last})
      if (!found->second.memory->read(at, thread_id(thread), out[e]))
        refuse(i, "no other thread that writes there meanwhile");
  }
  return out;
}

void CooperationModel::multiply(uint32_t i, uint32_t first) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  const Shape a = shape_of(i, TN_MATRIX_A), b = shape_of(i, TN_MATRIX_B),
              c = shape_of(i, TN_MATRIX_C);
  const std::vector<ModelValue> left = operand(i, operands[0], TN_MATRIX_A, first),
                                right = operand(i, operands[1], TN_MATRIX_B, first);
  std::vector<ModelValue> out, y(a.columns);
  for (uint32_t row = 0; row < c.rows; ++row)
    for (uint32_t column = 0; column < c.columns; ++column) {
      for (uint32_t k = 0; k < a.columns; ++k) y[k] = right[size_t{k} * b.columns + column];
      const auto x = std::span(left).subspan(size_t{row} * a.columns, a.columns);
      const ModelValue& start = element(operands[2], first, row * c.columns + column);
      out.push_back(dot_sum(op, start,
                            {static_cast<uint8_t>(a.dtype), static_cast<uint8_t>(b.dtype), x, y},
                            value_rules()));
    }
  for (uint32_t e = 0; e < out.size(); ++e) element(i, first, e) = out[e];
  spread(i, first, static_cast<uint32_t>(out.size()));
}

}  // namespace tenon::conformance::abi::programs
