// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/vulkan/harness.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::vulkan_test {

const tn_plugin& plugin() {
  static const tn_plugin& loaded = load_plugin(TENON_BINARY_DIR "/lib/tenon/libtenon_vulkan.so");
  return loaded;
}

const Device& shared_device() {
  if (const std::string reason = no_device(plugin()); !reason.empty()) SKIP(reason);
  static const Device* const kDevice = new Device(plugin());
  return *kDevice;
}

sdk::Program add_program(uint64_t count, uint32_t threads) {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b("add");
  const Value in = b.buffer("in", TN_DTYPE_I32, TN_ACCESS_READ);
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const Value add = b.scalar("add", TN_DTYPE_I32, INT32_MIN, INT32_MAX);
  b.workgroup(threads, 1, 1);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const Value width = b.constant(TN_DTYPE_I32, threads);
  const Value first = b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {group, width});
  const Value i = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {first, thread});
  const Value end = b.constant(TN_DTYPE_I32, count);
  const Value inside = b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {i, end});
  const Value zero = b.constant(TN_DTYPE_I32, 0);
  const Value value = b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {in, i, inside, zero});
  const Value sum = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {value, add});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i, sum, inside});
  return b.finish();
}

}  // namespace tenon::vulkan_test
