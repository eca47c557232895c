// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms, dot products, and copies that arrive later. Element e of a fragment is lane e %
// lanes of thread e / lanes.
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
  if (step.imm & TN_MATRIX_LINES) {
    name_tile(i, mask);
    return;
  }
  const tn_matrix_atom& atom = *find_atom(static_cast<uint32_t>(step.imm));
  const bool is_load = step.op == TN_OP_MATRIX_LOAD;
  const uint64_t role = step.imm & TN_MATRIX_ROLE;
  const MatrixShape shape = shape_of(atom, role);
  const uint32_t fragment = is_load ? i : step.operands[3];
  bool is_transposed = step.imm & TN_MATRIX_TRANSPOSED;
  if (code_.variant == Variant::matrix_b_rows && role == TN_MATRIX_B) is_transposed = false;
  if (code_.variant == Variant::matrix_store_rows && !is_load) is_transposed = false;
  const bool is_lost =
      code_.variant == Variant::matrix_c_shared && is_load && role == TN_MATRIX_C && !step.global;
  for (uint32_t t = 0; t < code_.threads; t += atom.subgroup) {
    if (!mask[t] || skips_subgroup(t)) continue;
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
        if (!is_lost) std::memcpy(&value, room.data() + at, step.bytes);
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
  // Elements row by row, of an operand that each thread holds some of, or that is in a tile.
  const auto operand = [&](size_t number, uint32_t first, uint64_t role) {
    const uint32_t value = step.operands[number];
    if (atom.scope == TN_SCOPE_BLOCK) return read_tile(value, first);
    const MatrixShape shape = shape_of(atom, role);
    std::vector<uint64_t> out;
    for (uint32_t row = 0; row < shape.rows; ++row)
      for (uint32_t column = 0; column < shape.columns; ++column)
        out.push_back(at(value, first, role, row, column));
    return out;
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
    if (!mask[first] || skips_subgroup(first)) continue;
    const std::vector<uint64_t> left = operand(0, first, TN_MATRIX_A),
                                right = operand(1, first, TN_MATRIX_B);
    std::vector<uint64_t> out;
    for (uint32_t row = 0; row < atom.m; ++row)
      for (uint32_t column = 0; column < atom.n; ++column) {
        const uint64_t c = drops_c ? 0 : at(step.operands[2], first, TN_MATRIX_C, row, column);
        double sum = sdk::to_double(c, step.dtype);
        uint64_t whole = c;
        for (uint32_t k = 0; k < depth; ++k) {
          const uint64_t x = left[row * atom.k + k], y = right[k * atom.n + column];
          sum += sdk::to_double(x, a_type) * sdk::to_double(y, b_type);
          if (is_narrow) sum = sdk::to_double(sdk::from_double(sum, TN_DTYPE_F16), TN_DTYPE_F16);
          whole += sdk::convert(x, a_type, TN_DTYPE_I64) * sdk::convert(y, b_type, TN_DTYPE_I64);
        }
        out.push_back(sdk::is_float(step.dtype) ? sdk::from_double(sum, step.dtype)
                                                : sdk::convert(whole, TN_DTYPE_I64, step.dtype));
      }
    for (uint32_t e = 0; e < out.size(); ++e)
      at(i, first, TN_MATRIX_C, e / atom.n, e % atom.n) = out[e];
    const bool is_written_over = code_.variant == Variant::matrix_c_overwritten &&
                                 code_.steps[step.operands[2]].op == TN_OP_MATRIX_LOAD;
    for (uint32_t e = 0; e < out.size() && is_written_over; ++e)
      at(step.operands[2], first, TN_MATRIX_C, e / atom.n, e % atom.n) = out[e];
    if (code_.variant == Variant::matrix_takes_a)
      at(step.operands[0], first, TN_MATRIX_A, 0, 0) = 0;
  }
}

/// Of what subgroups do in a condition, all but the first is left out.
bool Interpreter::skips_subgroup(uint32_t first) const {
  return code_.variant == Variant::matrix_branch_first && depth_ > 0 && first > 0;
}

// ---- Tiles -------------------------------------------------------------------------------------

void Interpreter::name_tile(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  const uint32_t size = find_atom(static_cast<uint32_t>(step.imm))->subgroup;
  for (uint32_t first = 0; first < code_.threads; first += size) {
    if (!mask[first]) continue;
    const uint32_t asks = code_.variant == Variant::tile_first_group ? 0 : first;
    word(i, first, 0) = static_cast<uint64_t>(integer(step.operands[1], asks));
    word(i, first + 1, 0) = static_cast<uint64_t>(integer(step.operands[2], asks));
    if (code_.variant == Variant::tile_at_load) taken_[{i, first}] = read_tile(i, first);
  }
}

std::vector<uint64_t> Interpreter::read_tile(uint32_t value, uint32_t first) {
  const Step& load = code_.steps[value];
  if (load.op != TN_OP_MATRIX_LOAD)
    throw sdk::Failure(TN_ERROR_UNSUPPORTED, "expected a tile that is loaded where it is used");
  if (const auto taken = taken_.find({value, first}); taken != taken_.end()) {
    return taken->second;
  }
  const uint64_t role = load.imm & TN_MATRIX_ROLE;
  const MatrixShape shape = shape_of(*find_atom(static_cast<uint32_t>(load.imm)), role);
  bool is_turned = load.imm & TN_MATRIX_TRANSPOSED;
  if (code_.variant == Variant::tile_b_along_n && role == TN_MATRIX_B) is_turned = false;
  const uint64_t line = 128 / load.bytes, piece = 16 / load.bytes;
  const std::span<std::byte> room = memory(load.operands[0], first);
  uint64_t index = word(value, first, 0), stride = word(value, first + 1, 0);
  if (code_.variant == Variant::tile_line_begin) index -= index % line;
  if (code_.variant == Variant::tile_second_column)
    stride = (is_turned ? shape.columns : shape.rows) * line;
  std::vector<uint64_t> out;
  for (uint32_t e = 0; e < shape.rows * shape.columns; ++e) {
    uint64_t row = e / shape.columns, column = e % shape.columns;
    if (is_turned) std::swap(row, column);
    uint64_t at = index + column / line * stride + row * line + column % line;
    if (code_.variant != Variant::tile_plain_lines) at ^= at / line % 8 * piece;
    if ((at + 1) * load.bytes > room.size()) outside(value);
    uint64_t bits = 0;
    std::memcpy(&bits, room.data() + at * load.bytes, load.bytes);
    out.push_back(bits);
  }
  return out;
}

// ---- Dot products ------------------------------------------------------------------------------

void Interpreter::dot(uint32_t i) {
  const Step& step = code_.steps[i];
  const Step &x_step = code_.steps[step.operands[0]], &y_step = code_.steps[step.operands[1]];
  const Step& start = code_.steps[step.operands[2]];
  const Variant variant = code_.variant;
  uint32_t count = std::max(x_step.lanes, y_step.lanes) / step.lanes;
  uint8_t x_dtype = x_step.dtype, y_dtype = y_step.dtype;
  if (variant == Variant::dot_x_signed && x_dtype == TN_DTYPE_U8) x_dtype = TN_DTYPE_I8;
  if (variant == Variant::dot_swapped && y_step.lanes == count && step.lanes > 1)
    std::swap(x_dtype, y_dtype);
  const bool begins_at_zero = variant == Variant::dot_chain_zero && start.op == TN_OP_DOT;
  const bool is_whole = !sdk::is_float(step.dtype);
  for (uint32_t t = 0; t < code_.threads; ++t)
    for (uint32_t l = 0; l < step.lanes; ++l) {
      const uint32_t lane = variant == Variant::dot_lanes_8 ? l % 8 : l;
      const uint64_t z = begins_at_zero ? 0 : word(step.operands[2], t, lane);
      double sum = is_whole ? 0 : sdk::to_double(z, step.dtype);
      int64_t whole = 0;
      const uint32_t used =
          variant == Variant::dot_carry_short && start.op == TN_OP_CARRY ? count - 1 : count;
      for (uint32_t k = 0; k < used; ++k) {
        const uint64_t x = word(step.operands[0], t, (lane * count + k) % x_step.lanes);
        const uint64_t y = word(step.operands[1], t, (lane * count + k) % y_step.lanes);
        sum += sdk::to_double(x, x_dtype) * sdk::to_double(y, y_dtype);
        if (variant == Variant::dot_sums_bf16 && !is_whole)
          sum = sdk::to_double(sdk::from_double(sum, TN_DTYPE_BF16), TN_DTYPE_BF16);
        whole += static_cast<int64_t>(sdk::convert(x, x_dtype, TN_DTYPE_I64) *
                                      sdk::convert(y, y_dtype, TN_DTYPE_I64));
        if (variant == Variant::dot_pairs_16) whole = std::clamp<int64_t>(whole, -32768, 32767);
      }
      uint64_t& out = word(i, t, l);
      if (!is_whole) {
        out = sdk::from_double(sum, step.dtype);
        continue;
      }
      whole += static_cast<int64_t>(sdk::convert(z, step.dtype, TN_DTYPE_I64));
      if (variant == Variant::dot_saturates)
        whole = std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX);
      out = sdk::convert(static_cast<uint64_t>(whole), TN_DTYPE_I64, step.dtype);
    }
}

}  // namespace tenon::planted
