// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What backends and dialects take from the rows of ops.def and dtypes.def.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "sdk/backend/property_table.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/render/dialect_ops.hpp"

using namespace tenon::sdk;

namespace {

std::set<uint32_t> claimed(const tn_properties& p) {
  std::set<uint32_t> ops;
  for (const OpInfo& op : all_ops())
    if (p.native_ops[op.op >> 6] >> (op.op & 63) & 1) ops.insert(op.op);
  return ops;
}

std::set<uint32_t> with_flag(const tn_properties& p, uint32_t flag) {
  std::set<uint32_t> dtypes;
  for (uint32_t i = 0; i < p.dtype_count; ++i)
    if (p.dtypes[i].flags & flag) dtypes.insert(p.dtypes[i].dtype);
  return dtypes;
}

}  // namespace

TEST_CASE("a claim is the ops that it lists and no others") {
  PropertyTable table(TN_DEVICE_COMPUTE);
  table.claim(kMathOps);
  CHECK(claimed(table.get()) == std::set<uint32_t>{TN_OP_EXP, TN_OP_LN, TN_OP_COS});
  table.claim(kVectorOps);
  CHECK(claimed(table.get()).size() == 7);
  table.claim({TN_OP_INTRINSIC});
  CHECK(claimed(table.get()).contains(TN_OP_INTRINSIC));
}

TEST_CASE("groups hold optional ops, each once") {
  std::set<uint16_t> seen;
  for (const tn_opcode op : concat(kArithmeticOps, kMathOps, kFusedOps, kVectorOps, kWorkgroupOps,
                                   kSubgroupOps, kMatrixOps, kAsyncOps)) {
    INFO(op_text(op));
    CHECK((op_info(op)->flags & kOpOptional));
    CHECK(seen.insert(op).second);
  }
}

TEST_CASE("what a language lists is elementwise") {
  for (const std::span<const tn_opcode> ops :
       {std::span<const tn_opcode>(kCOps), std::span<const tn_opcode>(kGlslOps),
        std::span<const tn_opcode>(kWgslOps)})
    for (const tn_opcode op : ops) CHECK(is_elementwise(*op_info(op)));
}

TEST_CASE("dtypes are claimed by their rows, up to a size") {
  PropertyTable table(TN_DEVICE_COMPUTE);
  table.store_all(2);
  CHECK(with_flag(table.get(), TN_DTYPE_STORAGE).size() == 9);
  CHECK_FALSE(with_flag(table.get(), TN_DTYPE_STORAGE).contains(TN_DTYPE_F32));
  table.compute_all(4, 4);
  CHECK(with_flag(table.get(), TN_DTYPE_ARITHMETIC) ==
        std::set<uint32_t>{TN_DTYPE_BOOL, TN_DTYPE_I8, TN_DTYPE_I16, TN_DTYPE_I32, TN_DTYPE_U8,
                           TN_DTYPE_U16, TN_DTYPE_U32, TN_DTYPE_F32});
  PropertyTable registers(TN_DEVICE_COMPUTE);
  registers.compute_registers(16);
  for (uint32_t i = 0; i < registers.get().dtype_count; ++i) {
    const tn_dtype_caps& caps = registers.get().dtypes[i];
    CHECK(caps.vector_lanes * dtype_info(static_cast<uint8_t>(caps.dtype))->bytes == 16);
  }
}

TEST_CASE("names of targets that are too long stay apart") {
  const std::string start(60, 'x');
  const auto target = [](const std::string& name) {
    return std::string(device_info(TN_DEVICE_CPU, "d", name).target);
  };
  CHECK(target(start + "abc") == start + "abc");
  CHECK(target(start + "abcd").size() == 63);
  CHECK(target(start + "abcd") != target(start + "abce"));
  CHECK(target(start + "abcd") == target(start + "abcd"));
  CHECK(target(start + "abcd").starts_with(start.substr(0, 46) + "#"));
}

TEST_CASE("reserved dtypes have a code and nothing else") {
  CHECK(dtype_info(TN_DTYPE_I4) == nullptr);
  CHECK_FALSE(is_usable(TN_DTYPE_U4));
  CHECK(dtype_by_text("i4") == TN_DTYPE_VOID);
}
