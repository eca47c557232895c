// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/matrix_tile.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon::sdk {

std::string MatrixTile::text() const {
  return fmt::format("atom {} {}x{}x{} {} by {} transposed {}{}{} shared {} pad {}", atom.id,
                     atom.m, atom.n, atom.k, dtype_text(dtype(0)), dtype_text(dtype(1)),
                     is_transposed[0], is_transposed[1], is_transposed[2], is_shared, pad);
}

double MatrixTile::small(uint32_t role, uint32_t row, uint32_t column) const {
  const auto value = static_cast<double>((row * 7 + column * 3 + role * 5) % 13);
  if (dtype(role) == TN_DTYPE_U8) return value * 20;
  return dtype(role) == TN_DTYPE_I8 ? value * 20 - 128 : value * 0.25 - 1.5;
}

Bytes MatrixTile::stored(uint32_t role, const Element& element) const {
  const uint32_t size = dtype_bytes(dtype(role));
  Bytes out(size_t{count(role)} * size);
  for (uint32_t row = 0; row < rows(role); ++row) {
    for (uint32_t column = 0; column < columns(role); ++column) {
      const uint64_t bits = from_double(element(role, row, column), dtype(role));
      std::memcpy(&out[size_t{at(role, row, column)} * size], &bits, size);
    }
  }
  return out;
}

double MatrixTile::result(std::span<const unsigned char> memory, uint32_t row,
                          uint32_t column) const {
  const uint32_t size = dtype_bytes(dtype(2));
  uint64_t bits = 0;
  std::memcpy(&bits, &memory[size_t{at(2, row, column)} * size], size);
  return to_double(bits, dtype(2));
}

uint32_t MatrixTile::differences(std::span<const unsigned char> memory, double error) const {
  uint32_t found = 0;
  for (uint32_t row = 0; row < atom.m; ++row) {
    for (uint32_t column = 0; column < atom.n; ++column) {
      double sum = 0;
      for (uint32_t k = 0; k < atom.k * kSteps; ++k) sum += small(0, row, k) * small(1, k, column);
      found += !(std::abs(result(memory, row, column) - sum) <= error);
    }
  }
  return found;
}

Program tile_program(const MatrixTile& t) {
  ProgramBuilder b("tile");
  b.workgroup(t.atom.subgroup, 1, 1);
  b.subgroup(t.atom.subgroup);
  const auto integer = [&](uint64_t value) { return b.constant(TN_DTYPE_I32, value); };
  ProgramBuilder::Value memory[] = {b.buffer("a", t.dtype(0), TN_ACCESS_READ, 0, 16),
                                    b.buffer("b", t.dtype(1), TN_ACCESS_READ, 0, 16),
                                    b.buffer("c", t.dtype(2), TN_ACCESS_WRITE, 0, 16)};
  const auto zero = integer(0), lanes = integer(t.atom.subgroup), one = integer(1);
  for (uint32_t role = 0; role < 2 && t.is_shared; ++role) {
    const auto shared =
        b.allocate(fmt::format("s{}", role), t.dtype(role), TN_SPACE_SHARED, t.count(role), 16);
    const auto end = integer(t.count(role));
    const auto at = b.begin_loop(b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32), end, lanes);
    const auto value = b.op(TN_OP_TAKE, t.dtype(role), 1, {memory[role], at});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {shared, at, value});
    b.end();
    memory[role] = shared;
  }
  if (t.is_shared) b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  const auto c_lanes = static_cast<uint16_t>(t.atom.c_lanes);
  const auto sum = b.constant(t.dtype(2), 0, c_lanes);
  const auto step = b.begin_loop(zero, integer(MatrixTile::kSteps), one, {&sum, 1});
  const uint32_t lane_count[] = {t.atom.a_lanes, t.atom.b_lanes};
  ProgramBuilder::Value fragment[2];
  for (uint32_t role = 0; role < 2; ++role) {
    const bool is_along = (role == 0) != t.is_transposed[role];  // k runs along the row
    const auto width = integer(is_along ? t.atom.k : t.atom.k * t.stride(role));
    const auto at = b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {step, width});
    const uint64_t imm =
        t.atom.id | uint64_t{role} << 32 | (t.is_transposed[role] ? TN_MATRIX_TRANSPOSED : 0);
    fragment[role] = b.op(TN_OP_MATRIX_LOAD, t.dtype(role), static_cast<uint16_t>(lane_count[role]),
                          {memory[role], at, integer(t.stride(role))}, imm);
  }
  const auto next = b.op(TN_OP_MATRIX_MULTIPLY, t.dtype(2), c_lanes,
                         {fragment[0], fragment[1], step + 1}, t.atom.id);
  b.end({&next, 1});
  b.op(TN_OP_MATRIX_STORE, TN_DTYPE_VOID, 0, {memory[2], zero, integer(t.stride(2)), step + 1},
       t.atom.id | TN_MATRIX_C | (t.is_transposed[2] ? TN_MATRIX_TRANSPOSED : 0));
  return b.finish();
}

}  // namespace tenon::sdk
