// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DOT: its text, what the verifier refuses, and what a device's atoms allow.
#include "sdk/program/dot.hpp"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sdk/backend/check_support.hpp"
#include "sdk/program/text.hpp"

using namespace tenon::sdk;

namespace {

Program parsed_dot(std::string_view op, std::string& error) {
  return parse_program(
      fmt::format("program p(%u: global u8 read, %s: global i8 read, %z: global i32 read) "
                  "workgroup 1 1 1 {{\n  %i = const 0 : i32\n  %u4 = load %u, %i : u8x4\n"
                  "  %u32 = load %u, %i : u8x32\n  %s4 = load %s, %i : i8x4\n"
                  "  %s32 = load %s, %i : i8x32\n  %z8 = load %z, %i : i32x8\n"
                  "  %z1 = load %z, %i : i32\n  {}\n}}\n",
                  op),
      error);
}

std::string dot_error(std::string_view op) {
  std::string error;
  parsed_dot(op, error);
  return error;
}

}  // namespace

TEST_CASE("a dot product has neighbours of every lane, or of all") {
  for (const char* op : {"%1 = dot %u32, %s32, %z8 : i32x8", "%1 = dot %u4, %s32, %z8 : i32x8",
                         "%1 = dot %u32, %s4, %z8 : i32x8", "%1 = dot %u4, %s4, %z1 : i32",
                         "%1 = dot %s32, %s4, %z8 : i32x8"}) {
    INFO(op);
    std::string error;
    const Program program = parsed_dot(op, error);
    REQUIRE(error == "");
    CHECK(print_program(program.view()).find(std::string(op).substr(5, 4)) != std::string::npos);
    CHECK(dot_neighbours(program.view(), program.view().op(program.view().op_count() - 1)) == 4);
  }
  const std::pair<const char*, const char*> bad[] = {
      {"%1 = dot %u32, %s32 : i32x8", "expected 3 operands"},
      {"%1 = dot %u32, %s32, %z1 : i32x8", "expected i32x8 as operand 2"},
      {"%1 = dot %u32, %s32, %z1 : i32", "expected 2, 4, 8 or 16 neighbours, got 32"},
      {"%1 = dot %u4, %s4, %z8 : i32x8", "neighbours, got 0"},
      {"%1 = dot %u32, %z8, %z8 : i32x8", "expected 4 or 32 lanes"},
      {"%1 = dot %z8, %z8, %z1 : i32", "expected factors that are narrower than i32, got i32"},
      {"%f = const 0.0 : f32x8\n%1 = dot %u32, %s32, %f : f32x8", "narrower than f32, got u8"},
      {"%1 = dot.2 %u32, %s32, %z8 : i32x8", "an op without a suffix"},
  };
  for (const auto& [op, reason] : bad) {
    INFO(op);
    CHECK(dot_error(op).find(reason) != std::string::npos);
  }
}

TEST_CASE("dot products are held against the device's atoms of one thread") {
  std::string error;
  const Program program = parsed_dot("%1 = dot %u4, %s32, %z8 : i32x8", error);
  REQUIRE(error == "");
  constexpr tn_dtype_caps kDTypes[] = {{TN_DTYPE_I32, TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC, 1, 0},
                                       {TN_DTYPE_U8, TN_DTYPE_STORAGE, 1, 0},
                                       {TN_DTYPE_I8, TN_DTYPE_STORAGE, 1, 0}};
  tn_properties p = TN_INIT(tn_properties);
  p.native_ops[TN_OP_BROADCAST >> 6] |= uint64_t{1} << (TN_OP_BROADCAST & 63);
  p.dtypes = kDTypes, p.dtype_count = 3, p.dtype_stride = sizeof kDTypes[0];
  p.index_bits = 64;
  tn_matrix_atom atom = TN_INIT(tn_matrix_atom);
  atom.m = atom.n = 1, atom.k = 4, atom.scope = TN_SCOPE_THREAD;
  atom.a_dtype = TN_DTYPE_U8, atom.b_dtype = TN_DTYPE_I8, atom.accumulator_dtype = TN_DTYPE_I32;
  p.matrix_atoms = &atom, p.matrix_atom_count = 1, p.matrix_atom_stride = sizeof atom;
  const auto refused = [&](const char* why) {
    return exceeds_properties(program.view(), p).find(why) != std::string::npos;
  };
  CHECK(refused("expected the op to be claimed"));
  p.native_ops[TN_OP_DOT >> 6] |= uint64_t{1} << (TN_OP_DOT & 63);
  CHECK(exceeds_properties(program.view(), p) == "");
  const char* none = "expected an atom of a thread, got 4 of u8 and i8 to i32";
  atom.k = 2;
  CHECK(refused(none));
  atom.k = 4, atom.scope = TN_SCOPE_SUBGROUP;
  CHECK(refused(none));
  atom.scope = TN_SCOPE_THREAD, atom.a_dtype = TN_DTYPE_I8;
  CHECK(refused(none));
  atom.a_dtype = TN_DTYPE_U8, atom.accumulator_dtype = TN_DTYPE_F32;
  CHECK(refused(none));
}
