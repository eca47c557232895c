// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms, and copies that arrive later. Element e of a fragment is lane e % lanes of thread
// e / lanes.
#include <algorithm>
#include <cstring>

#include "conformance/selftest/plugin/atoms.hpp"
#include "conformance/selftest/plugin/interpreter.hpp"
#include "sdk/program/dtype_info.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon::planted {

// ---- Copies ------------------------------------------------------------------------------------

void Interpreter::copy_later(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  uint64_t bytes = step.imm;
  if (code_.variant == Variant::copy_16_half && bytes == 16) bytes = 8;
  const bool takes_all = code_.variant == Variant::copy_by_all;
  for (uint32_t t = 0; t < code_.threads; ++t) {
    if (!mask[t] && !takes_all) continue;
    const std::span<std::byte> to = memory(step.operands[0], t), from = memory(step.operands[2], t);
    const auto place = [&](std::span<std::byte> room, size_t index) {
      const auto at = static_cast<uint64_t>(integer(step.operands[index], t)) * step.bytes;
      if (at + bytes > room.size()) outside(i);
      return room.data() + at;
    };
    std::vector<std::byte> data(bytes);
    std::memcpy(data.data(), place(from, 3), bytes);
    copies_.push_back({place(to, 1), std::move(data)});
  }
}

void Interpreter::close_group() { groups_.push_back(std::exchange(copies_, {})); }

void Interpreter::arrive(uint64_t most) {
  if (code_.variant == Variant::wait_needs_zero && most > 0) return;
  while (groups_.size() > most) {
    for (const LateCopy& copy : groups_.front())
      std::memcpy(copy.to, copy.data.data(), copy.data.size());
    groups_.erase(groups_.begin());
  }
}

// ---- Matrices ----------------------------------------------------------------------------------

void Interpreter::matrix_access(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  const tn_matrix_atom& atom = *find_atom(static_cast<uint32_t>(step.imm));
  const bool is_load = step.op == TN_OP_MATRIX_LOAD;
  const uint64_t role = step.imm & TN_MATRIX_ROLE;
  const MatrixShape shape = shape_of(atom, role);
  const uint32_t fragment = is_load ? i : step.operands[3];
  bool is_transposed = step.imm & TN_MATRIX_TRANSPOSED;
  if (code_.variant == Variant::matrix_b_rows && role == TN_MATRIX_B) is_transposed = false;
  if (code_.variant == Variant::matrix_store_rows && !is_load) is_transposed = false;
  for (uint32_t t = 0; t < code_.threads; t += atom.subgroup) {
    if (!mask[t]) continue;
    const uint32_t asks = code_.variant == Variant::matrix_first_index && is_load ? 0 : t;
    const std::span<std::byte> room = memory(step.operands[0], t);
    const auto index = static_cast<uint64_t>(integer(step.operands[1], asks));
    auto stride = static_cast<uint64_t>(integer(step.operands[2], t));
    if (code_.variant == Variant::matrix_dense_rows)
      stride = is_transposed ? shape.rows : shape.columns;
    for (uint32_t e = 0; e < shape.rows * shape.columns; ++e) {
      const uint64_t row = e / shape.columns, column = e % shape.columns;
      const uint64_t at =
          (index + (is_transposed ? column * stride + row : row * stride + column)) * step.bytes;
      if (at + step.bytes > room.size()) outside(i);
      uint64_t& value = word(fragment, t + e / shape.lanes, e % shape.lanes);
      if (is_load) {
        value = 0;
        std::memcpy(&value, room.data() + at, step.bytes);
      } else {
        std::memcpy(room.data() + at, &value, step.bytes);
      }
    }
  }
}

void Interpreter::matrix_multiply(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  const tn_matrix_atom& atom = *find_atom(static_cast<uint32_t>(step.imm));
  const auto at = [&](uint32_t value, uint32_t first, uint64_t role, uint32_t row,
                      uint32_t column) -> uint64_t& {
    const MatrixShape shape = shape_of(atom, role);
    const uint32_t e = row * shape.columns + column;
    return word(value, first + e / shape.lanes, e % shape.lanes);
  };
  const auto a_type = static_cast<uint8_t>(atom.a_dtype),
             b_type = static_cast<uint8_t>(atom.b_dtype);
  const bool is_narrow = code_.variant == Variant::matrix_sums_f16 && step.dtype == TN_DTYPE_F32;
  const bool drops_c = code_.variant == Variant::matrix_chain_zero &&
                       code_.steps[step.operands[2]].op == TN_OP_MATRIX_MULTIPLY;
  uint32_t depth = atom.k;
  if (code_.variant == Variant::matrix_k_short && code_.steps[step.operands[2]].op == TN_OP_CARRY)
    --depth;
  for (uint32_t first = 0; first < code_.threads; first += atom.subgroup) {
    if (!mask[first]) continue;
    std::vector<uint64_t> out;
    for (uint32_t row = 0; row < atom.m; ++row)
      for (uint32_t column = 0; column < atom.n; ++column) {
        const uint64_t c = drops_c ? 0 : at(step.operands[2], first, TN_MATRIX_C, row, column);
        double sum = sdk::to_double(c, step.dtype);
        uint64_t whole = c;
        for (uint32_t k = 0; k < depth; ++k) {
          const uint64_t x = at(step.operands[0], first, TN_MATRIX_A, row, k);
          const uint64_t y = at(step.operands[1], first, TN_MATRIX_B, k, column);
          sum += sdk::to_double(x, a_type) * sdk::to_double(y, b_type);
          if (is_narrow) sum = sdk::to_double(sdk::from_double(sum, TN_DTYPE_F16), TN_DTYPE_F16);
          whole += sdk::convert(x, a_type, TN_DTYPE_I64) * sdk::convert(y, b_type, TN_DTYPE_I64);
        }
        out.push_back(sdk::is_float(step.dtype) ? sdk::from_double(sum, step.dtype)
                                                : sdk::convert(whole, TN_DTYPE_I64, step.dtype));
      }
    for (uint32_t e = 0; e < out.size(); ++e)
      at(i, first, TN_MATRIX_C, e / atom.n, e % atom.n) = out[e];
    if (code_.variant == Variant::matrix_takes_a)
      at(step.operands[0], first, TN_MATRIX_A, 0, 0) = 0;
  }
}

}  // namespace tenon::planted
