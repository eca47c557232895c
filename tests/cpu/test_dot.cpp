// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DOT, and the stores that lay out what it takes: the same numbers as loops give, by the
// processor's own instructions.
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

std::string assembly_of(const sdk::Program& program) {
  return shared_device().text(shared_device().compile(program), TN_TEXT_ASSEMBLY);
}

const tn_matrix_atom* atom_of(uint32_t a) {
  const tn_properties& p = shared_device().properties();
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i)
    if (p.matrix_atoms[i].scope == TN_SCOPE_THREAD && p.matrix_atoms[i].a_dtype == a)
      return &p.matrix_atoms[i];
  return nullptr;
}

/// out = c + a . b, of which one factor may serve all lanes.
sdk::Program dot_program(const tn_matrix_atom& atom, uint16_t lanes, bool one_a, bool one_b) {
  const auto a = static_cast<tn_dtype>(atom.a_dtype), b = static_cast<tn_dtype>(atom.b_dtype);
  const auto sum = static_cast<tn_dtype>(atom.accumulator_dtype);
  sdk::ProgramBuilder p("dot");
  const Value from_a = p.buffer("a", a, TN_ACCESS_READ), from_b = p.buffer("b", b, TN_ACCESS_READ);
  const Value from_c = p.buffer("c", sum, TN_ACCESS_READ);
  const Value out = p.buffer("out", sum, TN_ACCESS_WRITE);
  const Value zero = p.constant(TN_DTYPE_I64, 0);
  const auto k = static_cast<uint16_t>(atom.k);
  const auto all = static_cast<uint16_t>(k * lanes);
  const Value x = p.op(TN_OP_TAKE, a, one_a ? k : all, {from_a, zero});
  const Value y = p.op(TN_OP_TAKE, b, one_b ? k : all, {from_b, zero});
  const Value z = p.op(TN_OP_TAKE, sum, lanes, {from_c, zero});
  p.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, zero, p.op(TN_OP_DOT, sum, lanes, {x, y, z})});
  return p.finish();
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

}  // namespace

TEST_CASE("bytes of either sign are multiplied and added exactly, and wrap") {
  const tn_matrix_atom* atom = atom_of(TN_DTYPE_U8);
  if (!atom) SKIP("no dot products of bytes");
  std::mt19937 random(1);
  for (uint16_t lanes : {1, 2, 3, 4, 7, 8, 15, 16, 17, 32, 40}) {
    for (const auto& [one_a, one_b] : {std::pair(false, false), {true, false}, {false, true}}) {
      std::vector<uint8_t> a(4u * lanes);
      std::vector<int8_t> b(4u * lanes);
      std::vector<int32_t> c(lanes), expected(lanes);
      for (uint8_t& v : a) v = random() % 3 ? static_cast<uint8_t>(random()) : 255;
      for (int8_t& v : b) v = random() % 3 ? static_cast<int8_t>(random()) : int8_t{-128};
      for (size_t l = 0; l < lanes; ++l) {
        c[l] = static_cast<int32_t>(l % 2 ? 0x80000000u : random());
        auto sum = static_cast<uint32_t>(c[l]);
        for (size_t k = 0; k < 4; ++k)
          sum += static_cast<uint32_t>(a[one_a ? k : 4 * l + k] * b[one_b ? k : 4 * l + k]);
        expected[l] = static_cast<int32_t>(sum);
      }
      Bytes in_a = bytes_of(a), in_b = bytes_of(b), in_c = bytes_of(c), out(4u * lanes);
      shared_device().run(dot_program(*atom, lanes, one_a, one_b), {},
                          {{&in_a}, {&in_b}, {&in_c}, {&out}});
      CAPTURE(lanes, one_a, one_b);
      REQUIRE(values_of<int32_t>(out) == expected);
    }
  }
  CHECK(assembly_of(dot_program(*atom, 16, true, false)).find("vpdpbusd") != std::string::npos);
}

TEST_CASE("pairs of bf16 are multiplied exactly and added in f32") {
  const tn_matrix_atom* atom = atom_of(TN_DTYPE_BF16);
  if (!atom) SKIP("no dot products of bf16");
  std::mt19937 random(2);
  for (uint16_t lanes : {1, 2, 3, 4, 8, 15, 16, 17, 32, 40}) {
    for (const auto& [one_a, one_b] : {std::pair(false, false), {true, false}, {false, true}}) {
      std::vector<uint16_t> a(2u * lanes), b(2u * lanes);
      std::vector<float> c(lanes);
      // From 2^-8 to 2^8, of both signs.
      const auto some = [&] {
        return static_cast<uint16_t>((random() % 2) << 15 | (119 + random() % 17) << 7 |
                                     random() % 128);
      };
      for (uint16_t& v : a) v = some();
      for (uint16_t& v : b) v = some();
      for (float& v : c) v = from_bf16(some());
      Bytes in_a = bytes_of(a), in_b = bytes_of(b), in_c = bytes_of(c), out(4u * lanes);
      shared_device().run(dot_program(*atom, lanes, one_a, one_b), {},
                          {{&in_a}, {&in_b}, {&in_c}, {&out}});
      const auto got = values_of<float>(out);
      for (size_t l = 0; l < lanes; ++l) {
        double sum = c[l], magnitude = std::abs(sum);
        for (size_t k = 0; k < 2; ++k) {
          const double product =
              double{from_bf16(a[one_a ? k : 2 * l + k])} * from_bf16(b[one_b ? k : 2 * l + k]);
          sum += product;
          magnitude += std::abs(product);
        }
        CAPTURE(lanes, one_a, one_b, l);
        REQUIRE(std::abs(got[l] - sum) <= magnitude * 0x1p-22);
      }
    }
  }
  CHECK(assembly_of(dot_program(*atom, 16, false, true)).find("vdpbf16ps") != std::string::npos);
}

TEST_CASE("stores that fill a line between them are one") {
  for (const tn_dtype dtype : {TN_DTYPE_I8, TN_DTYPE_BF16, TN_DTYPE_F32, TN_DTYPE_BOOL}) {
    for (const uint32_t rows : {2u, 4u}) {
      constexpr uint16_t kLanes = 16;
      const uint32_t size = sdk::dtype_bytes(dtype);
      sdk::ProgramBuilder b("interleave");
      const Value in = b.buffer("in", dtype, TN_ACCESS_READ);
      const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
      const Value tile = b.allocate("tile", dtype, TN_SPACE_SCRATCH, kLanes * rows);
      const auto number = [&](uint64_t v, uint16_t lanes = 1) {
        return b.constant(TN_DTYPE_I64, v, lanes);
      };
      const auto apply = [&](tn_opcode op, Value x, Value y) {
        return b.op(op, TN_DTYPE_I64, kLanes, {x, y}, 0, TN_OP_NO_WRAP);
      };
      const Value lane = b.index(TN_AXIS_LANE, TN_DTYPE_I64, kLanes);
      for (uint32_t r = 0; r < rows; ++r) {
        const Value row = b.op(TN_OP_TAKE, dtype, kLanes, {in, number(r * kLanes)});
        const Value at =
            apply(TN_OP_ADD, apply(TN_OP_MUL, lane, number(rows, kLanes)), number(r, kLanes));
        b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {tile, at, row});
      }
      for (uint32_t r = 0; r < rows; ++r)
        b.op(
            TN_OP_STORE, TN_DTYPE_VOID, 0,
            {out, number(r * kLanes), b.op(TN_OP_TAKE, dtype, kLanes, {tile, number(r * kLanes)})});
      Bytes from(size_t{kLanes} * rows * size), to(from.size());
      for (size_t i = 0; i < size_t{kLanes} * rows; ++i)
        set_element(from, i, size, dtype == TN_DTYPE_BOOL ? i % 3 == 0 : i + 1);
      shared_device().run(b.finish(), {}, {{&from}, {&to}});
      for (size_t i = 0; i < size_t{kLanes} * rows; ++i) {
        CAPTURE(dtype, rows, i);
        REQUIRE(element(to, i, size) == element(from, i % rows * kLanes + i / rows, size));
      }
    }
  }
}

}  // namespace tenon::cpu_test
