// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Subgroup, matrix and asynchronous copy ops: what the verifier and the check of a device's
// properties refuse.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sdk/backend/check_support.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

/// What is wrong with the body, without its place.
std::string cooperation_error(std::string_view body,
                              std::string_view groups = "32 1 1 subgroup 32") {
  std::string error;
  parse_program(
      fmt::format("program p(%x: global f16 read, %y: global f16 write, %f: global f32 read) "
                  "workgroup {} {{\n  %s = param shared f16[64]\n  %i = const 0 : i32\n"
                  "  %a = matrix_load.1.a %x, %i, %i : f16x8\n  %v = load %x, %i : f16\n"
                  "  %w = load %f, %i : f32\n{}\n}}\n",
                  groups, body),
      error);
  return error.substr(std::min(error.find(": "), error.size()));
}

bool refuses_cooperation(std::string_view body, std::string_view reason) {
  INFO(body);
  const std::string error = cooperation_error(body);
  CHECK(error.find(reason) != std::string::npos);
  return !error.empty();
}

}  // namespace

TEST_CASE("ops of whole subgroups need a subgroup size that divides the workgroup") {
  CHECK(cooperation_error("") == "");
  for (const char* groups : {"32 1 1", "48 1 1 subgroup 32"}) {
    CHECK(cooperation_error("", groups).find("expected a subgroup size that divides") !=
          std::string::npos);
  }
  CHECK(cooperation_error("", "8 4 2 subgroup 32") == "");
}

TEST_CASE("subgroup ops are verified") {
  CHECK(cooperation_error("%1 = subgroup_shuffle %w, %i : f32") == "");
  refuses_cooperation("%1 = subgroup_shuffle %w, %w : f32",
                      "expected a scalar i32 or i64 as operand 1");
  refuses_cooperation("%1 = subgroup_shuffle %w, %i : f16", "expected f16x1 as operand 0");
  refuses_cooperation("%1 = subgroup_shuffle %w : f32", "expected 2 operands");
  CHECK(cooperation_error("%1 = subgroup_reduce.mul %w : f32") == "");
  refuses_cooperation("%1 = subgroup_reduce.sub %w : f32", "expected add, mul or max");
  refuses_cooperation("%1 = subgroup_reduce %w : f32", "expected a reduction");
  refuses_cooperation("%1 = subgroup_reduce.add %w : f32x2", "expected f32x2 as operand 0");
  CHECK(cooperation_error("%1 = subgroup_broadcast %w, 31 : f32") == "");
  refuses_cooperation("%1 = subgroup_broadcast %w, 32 : f32", "expected a lane below 32");
  refuses_cooperation("%1 = subgroup_broadcast %x, 3 : f16", "got the buffer");
}

TEST_CASE("matrix ops are verified") {
  CHECK(cooperation_error("%1 = matrix_load.1.b.transposed %x, %i, %i : f16x4") == "");
  refuses_cooperation("%1 = matrix_load.1.d %x, %i, %i : f16x4", "expected an atom and role");
  refuses_cooperation("%1 = matrix_load.b %x, %i, %i : f16x4", "expected a number after the op");
  refuses_cooperation("%1 = matrix_load.1.b %x, %i : f16x4", "expected 3 operands");
  refuses_cooperation("%1 = matrix_load.1.b %x, %i, %i : f32x4", "expected a buffer of f32");
  refuses_cooperation("%1 = matrix_load.1.b %y, %i, %i : f16x4", "expected access 1");
  refuses_cooperation("%1 = matrix_load.1.b %x, %i, %w : f16x4",
                      "expected a scalar i32 or i64 as operand 2");
  refuses_cooperation("%1 = matrix_load.1.b %x, %x, %i : f16x4", "got the buffer");
  CHECK(cooperation_error("matrix_store.1.a %y, %i, %i, %a") == "");
  refuses_cooperation("matrix_store.1.a %x, %i, %i, %a", "expected access 2");
  refuses_cooperation("matrix_store.1.c %y, %i, %i, %a",
                      "expected a fragment of the same atom and role");
  refuses_cooperation("matrix_store.1.a %y, %i, %i", "expected 4 operands");
  const std::string_view b = "%b = matrix_load.1.b %x, %i, %i : f16x4\n%c = const 0.0 : f32x4\n";
  CHECK(cooperation_error(fmt::format("{}%1 = matrix_multiply.1 %a, %b, %c : f32x4", b)) == "");
  refuses_cooperation(fmt::format("{}%1 = matrix_multiply.2 %a, %b, %c : f32x4", b),
                      "same atom and role");
  refuses_cooperation(fmt::format("{}%1 = matrix_multiply.1 %b, %a, %c : f32x4", b),
                      "same atom and role");
  refuses_cooperation(fmt::format("{}%1 = matrix_multiply.1 %a, %b, %c : f32x8", b),
                      "expected f32x8");
  refuses_cooperation(fmt::format("{}%1 = matrix_multiply.1 %a, %b : f32x4", b),
                      "expected 3 operands");
  refuses_cooperation(fmt::format("{}%1 = matrix_multiply.1.a %a, %b, %c : f32x4", b),
                      "a number alone");
}

TEST_CASE("fragments go through elementwise ops and loops, and nowhere else") {
  CHECK(cooperation_error("%1 = add %a, %a : f16x8\n%2 = cast %1 : f32x8") == "");
  CHECK(
      cooperation_error("%1 = loop %i, %i, %i : i32 {\n%2 = carry %a : f16x8\n%3 = neg %2 : f16x8\n"
                        "end %3\n}\nmatrix_store.1.a %y, %i, %i, %2")
          .find("step") != std::string::npos);
  refuses_cooperation("store %y, %i, %a", "expected no matrix fragment as operand");
  CHECK(cooperation_error("%1 = extract %a, 0 : f16\nstore %y, %i, %1") == "");
  refuses_cooperation("%1 = lane_reduce.add %a : f16", "expected no matrix fragment as operand");
  refuses_cooperation("%1 = subgroup_reduce.add %a : f16x8",
                      "expected no matrix fragment as operand");
  refuses_cooperation("%b = matrix_load.2.a %x, %i, %i : f16x8\n%1 = add %a, %b : f16x8",
                      "expected a fragment of the same atom and role");
  refuses_cooperation(
      "%1 = const 1 : i32\n%z = const 0.0 : f16x8\n%2 = loop %i, %1, %1 : i32 {\n"
      "%3 = carry %z : f16x8\nend %a\n}\nstore %y, %i, %3",
      "expected no matrix fragment as operand");
  refuses_cooperation(
      "%1 = const 1 : i32\n%b = matrix_load.2.a %x, %i, %i : f16x8\n"
      "%2 = loop %i, %1, %1 : i32 {\n%3 = carry %b : f16x8\nend %a\n}",
      "expected a fragment of the same atom and role");
}

TEST_CASE("asynchronous copies are verified") {
  CHECK(cooperation_error("async_copy.8 %s, %i, %x, %i\nasync_commit\nasync_wait 1") == "");
  refuses_cooperation("async_copy.2 %s, %i, %x, %i", "expected 4, 8 or 16 bytes");
  refuses_cooperation("async_copy %s, %i, %x, %i", "expected a number after the op");
  refuses_cooperation("async_copy.8 %x, %i, %s, %i", "expected access 2");
  refuses_cooperation("async_copy.8 %s, %i, %s, %i",
                      "expected to copy from a buffer to shared memory");
  refuses_cooperation("async_copy.8 %s, %i, %f, %i", "expected a buffer of f16");
  refuses_cooperation("async_copy.8 %s, %w, %x, %i", "expected an i32 or i64 index");
  refuses_cooperation("async_copy.8 %s, %x, %x, %i", "got the buffer");
  refuses_cooperation("async_copy.8 %s, %i, %x", "expected 4 operands");
  refuses_cooperation("async_wait 65", "expected at most 64 groups");
  refuses_cooperation("async_commit %i", "expected 0 operands");
}

TEST_CASE("a buffer is no index") {
  std::string error;
  parse_program(
      "program p(%x: global i32 read write) workgroup 1 1 1 {\n  %1 = load %x, %x : i32\n}\n",
      error);
  CHECK(error.find("got the buffer") != std::string::npos);
}

TEST_CASE("barriers of a subgroup are claimed by a flag, as WGSL has none") {
  std::string error;
  const auto program = [&](const char* scope) {
    return parse_program(fmt::format("program p(%x: global i32 read write) workgroup 32 1 1 "
                                     "subgroup 32 {{\n  barrier {}\n}}\n",
                                     scope),
                         error);
  };
  const Program subgroup = program("subgroup"), block = program("block");
  REQUIRE(error == "");
  constexpr tn_dtype_caps kWhole{TN_DTYPE_I32, TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC, 1, 0};
  tn_properties p = TN_INIT(tn_properties);
  for (const OpInfo& op : all_ops()) p.native_ops[op.op >> 6] |= uint64_t{1} << (op.op & 63);
  p.dtypes = &kWhole, p.dtype_count = 1, p.dtype_stride = sizeof kWhole;
  p.index_bits = 64, p.subgroup_min = p.subgroup_max = 32;
  CHECK(exceeds_properties(block.view(), p) == "");
  CHECK(exceeds_properties(subgroup.view(), p) ==
        "op 1 barrier: expected barriers of a subgroup (TN_DEVICE_SUBGROUP_BARRIER) to be claimed");
  p.flags = TN_DEVICE_SUBGROUP_BARRIER;
  CHECK(exceeds_properties(subgroup.view(), p) == "");
}

TEST_CASE("atoms are held against the device's") {
  std::string error;
  const Program program = parse_program(samples::kMatrix, error);
  REQUIRE(error == "");
  const auto atoms = cuda_atoms(80);
  constexpr tn_dtype_caps kDTypes[] = {
      {TN_DTYPE_I32, TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC, 1, 0},
      {TN_DTYPE_F16, TN_DTYPE_STORAGE, 1, 0},
      {TN_DTYPE_F32, TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC, 1, 0}};
  tn_properties p = TN_INIT(tn_properties);
  p.flags = TN_DEVICE_SUBGROUP_BARRIER;
  for (const OpInfo& op : all_ops()) p.native_ops[op.op >> 6] |= uint64_t{1} << (op.op & 63);
  p.dtypes = kDTypes, p.dtype_count = 3, p.dtype_stride = sizeof kDTypes[0];
  p.index_bits = 64, p.max_shared_bytes = 49152, p.subgroup_min = p.subgroup_max = 32;
  p.matrix_atoms = atoms.data(), p.matrix_atom_stride = sizeof(tn_matrix_atom);
  CHECK(exceeds_properties(program.view(), p).find("expected an atom of the device, got 1") !=
        std::string::npos);
  p.matrix_atom_count = static_cast<uint32_t>(atoms.size());
  CHECK(exceeds_properties(program.view(), p) == "");
  tn_matrix_atom other = atoms[0];
  p.matrix_atoms = &other, p.matrix_atom_count = 1;
  other.a_lanes = 4;
  CHECK(exceeds_properties(program.view(), p).find("expected f16x4, got f16x8") !=
        std::string::npos);
  other = atoms[0], other.a_dtype = TN_DTYPE_BF16;
  CHECK(exceeds_properties(program.view(), p).find("expected bf16x8, got f16x8") !=
        std::string::npos);
  other = atoms[0], other.subgroup = 64;
  CHECK(exceeds_properties(program.view(), p).find("expected a subgroup of 64, got 32") !=
        std::string::npos);
}
