// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What backends and dialects take from the rows of ops.def and dtypes.def.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "sdk/backend/property_table.hpp"

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

TEST_CASE("a claim is the ops of its rows and no others") {
  PropertyTable table(TN_DEVICE_COMPUTE);
  table.claim({OpClaim::PLAIN});
  CHECK(claimed(table.get()) == std::set<uint32_t>{TN_OP_NEG, TN_OP_SUB, TN_OP_FDIV, TN_OP_SHL,
                                                   TN_OP_SHR, TN_OP_CMPEQ, TN_OP_TRUNC, TN_OP_FLOOR,
                                                   TN_OP_MIN});
  table.claim({OpClaim::VECTOR});
  CHECK(claimed(table.get()).size() == 13);
  table.claim({TN_OP_INTRINSIC});
  CHECK(claimed(table.get()).contains(TN_OP_INTRINSIC));
}

TEST_CASE("only optional ops are claimed, each by one word or by its name") {
  for (const OpInfo& op : all_ops())
    CHECK((op.claim == OpClaim::ALWAYS) == !(op.flags & kOpOptional));
}

TEST_CASE("every optional elementwise op is one that C has words for") {
  PropertyTable table(TN_DEVICE_COMPUTE), by_word(TN_DEVICE_COMPUTE);
  table.claim_elementwise();
  by_word.claim({OpClaim::PLAIN, OpClaim::FUSED, OpClaim::MATH});
  CHECK(claimed(table.get()) == claimed(by_word.get()));
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
