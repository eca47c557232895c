// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/model_cooperation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "conformance/abi/lowest_bit.hpp"
#include "conformance/cases/abi/scalars.hpp"
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
    if (one.id == id && one.scope == TN_SCOPE_SUBGROUP &&
        one.subgroup == program_.header().subgroup_size)
      return one;
  refuse(i, "an atom of the device, of a subgroup");
}

CooperationModel::Shape CooperationModel::shape_of(uint32_t i, uint64_t role) const {
  const tn_matrix_atom& a = atom(i);
  if (role == TN_MATRIX_A) return {a.m, a.k, a.a_lanes, a.a_dtype};
  if (role == TN_MATRIX_B) return {a.k, a.n, a.b_lanes, a.b_dtype};
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

void CooperationModel::access(uint32_t i, uint32_t first) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  const bool is_load = op.op == TN_OP_MATRIX_LOAD;
  if (op.imm & TN_MATRIX_LINES) refuse(i, "rows that are not cut into lines");
  const Shape shape = shape_of(i, op.imm & TN_MATRIX_ROLE);
  const uint32_t fragment = is_load ? i : operands[3];
  const int64_t index = counter(i, operands[1], first), stride = counter(i, operands[2], first);
  for (uint32_t t = first; t < first + program_.header().subgroup_size; ++t)
    if (counter(i, operands[1], t) != index || counter(i, operands[2], t) != stride)
      refuse(i, "one index and one stride in the subgroup");
  for (uint32_t e = 0; e < shape.rows * shape.columns; ++e) {
    const int64_t row = e / shape.columns, column = e % shape.columns;
    const int64_t place = op.imm & TN_MATRIX_TRANSPOSED ? index + column * stride + row
                                                        : index + row * stride + column;
    ModelMemory& memory = memory_of(operands[0], first);
    if (place < 0 || static_cast<size_t>(place) >= memory.size())
      refuse(i, fmt::format("an element below {}, got {}", memory.size(), place));
    // The whole subgroup does it: no thread of it may come in between without a barrier.
    const ThreadId who = thread_id(first);
    ModelValue& value = element(fragment, first, e);
    const auto cell = static_cast<size_t>(place);
    if (is_load ? !memory.read(cell, who, value) : !memory.write(cell, who, value))
      refuse(i, "no other thread that touches it meanwhile");
  }
  if (is_load) spread(i, first, shape.rows * shape.columns);
}

/// Known where no order of the additions rounds in the accumulator's dtype.
void CooperationModel::multiply(uint32_t i, uint32_t first) {
  const auto operands = program_.operands(program_.op(i));
  const Shape a = shape_of(i, TN_MATRIX_A), b = shape_of(i, TN_MATRIX_B),
              c = shape_of(i, TN_MATRIX_C);
  const auto to = static_cast<uint8_t>(c.dtype);
  const bool is_float = sdk::is_float(to);
  std::vector<ModelValue> out(size_t{c.rows} * c.columns);
  for (uint32_t row = 0; row < c.rows; ++row)
    for (uint32_t column = 0; column < c.columns; ++column) {
      const ModelValue& start = element(operands[2], first, row * c.columns + column);
      bool known = start.known;
      double sum = is_float ? to_double(start.bits, to) : 0, magnitude = std::fabs(sum);
      double unit = sum != 0 ? lowest_bit(sum) : HUGE_VAL;
      uint64_t whole = start.bits;
      for (uint32_t k = 0; k < a.columns; ++k) {
        const ModelValue& x = element(operands[0], first, row * a.columns + k);
        const ModelValue& y = element(operands[1], first, k * b.columns + column);
        known = known && x.known && y.known;
        if (is_float) {
          const double product = to_double(x.bits, static_cast<uint8_t>(a.dtype)) *
                                 to_double(y.bits, static_cast<uint8_t>(b.dtype));
          sum += product;
          magnitude += std::fabs(product);
          if (product != 0) unit = std::min(unit, lowest_bit(product));
        } else {
          whole += convert(x.bits, static_cast<uint8_t>(a.dtype), TN_DTYPE_I64) *
                   convert(y.bits, static_cast<uint8_t>(b.dtype), TN_DTYPE_I64);
        }
      }
      ModelValue& result = out[size_t{row} * c.columns + column];
      if (!is_float) {
        result = {convert(whole, TN_DTYPE_I64, to), known};
        continue;
      }
      const uint64_t most = from_double(magnitude, to);
      const bool fits =
          magnitude == 0 || (to_double(most, to) == magnitude &&
                             to_double(from_double(magnitude - unit, to), to) == magnitude - unit);
      result = {from_double(sum, to), known && fits};
    }
  for (uint32_t e = 0; e < out.size(); ++e) element(i, first, e) = out[e];
  spread(i, first, static_cast<uint32_t>(out.size()));
}

}  // namespace tenon::conformance::abi::programs
