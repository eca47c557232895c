// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the subgroup size, which wgpu-native does not report and which WGSL lets differ by
// pipeline. On hardware with a single size, a kernel measures it.
#include <span>

#include "plugins/wgsl/device.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::wgsl {
namespace {

constexpr uint32_t kRow = 64, kRows = 2;  ///< of the workgroup
constexpr uint32_t kNvidia = 0x10de, kApple = 0x106b;

/// Possible subgroup sizes of an adapter. A software driver uses the vector size of the processor.
std::span<const uint32_t> sizes_of(const WGPUAdapterInfo& info) {
  static constexpr uint32_t kVectors[] = {8, 4, 16}, kHardware[] = {32};
  if (info.adapterType == WGPUAdapterType_CPU) return kVectors;
  const bool has_one = info.vendorID == kNvidia || info.vendorID == kApple;
  return has_one ? std::span<const uint32_t>(kHardware) : std::span<const uint32_t>();
}

/// A program with out[t * size + k] = the number of the thread that thread t reads as lane k.
sdk::Program exchange(uint32_t size) {
  sdk::ProgramBuilder b("exchange");
  b.workgroup(kRow, kRows, 1);
  b.subgroup(size);
  const auto number = [&](uint32_t value) { return b.constant(TN_DTYPE_I32, value); };
  const auto binary = [&](tn_opcode op, auto x, auto y) {
    return b.op(op, TN_DTYPE_I32, 1, {x, y});
  };
  const auto out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const auto row = binary(TN_OP_MUL, b.index(TN_AXIS_BLOCK_Y, TN_DTYPE_I32), number(kRow));
  const auto thread = binary(TN_OP_ADD, b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32), row);
  const auto first = binary(TN_OP_MUL, thread, number(size));
  const auto lane = b.begin_loop(number(0), number(size), number(1));
  const auto got = binary(TN_OP_SUBGROUP_SHUFFLE, thread, lane);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, binary(TN_OP_ADD, first, lane), got});
  b.end();
  return b.finish();
}

}  // namespace

bool WgslDevice::acts_as_subgroups(uint32_t size) {
  const WgslExecutable code(exchange(size), this);
  std::vector<uint32_t> got(size_t{kRow} * kRows * size);
  const uint64_t bytes = got.size() * sizeof got[0];
  const std::unique_ptr<sdk::Memory> memory = allocate(0, bytes);
  const sdk::Range range{memory.get(), 0, bytes};
  begin(1, 1);
  dispatch({code, {&range, 1}, {}, {1, 1, 1}});
  read(range, reinterpret_cast<std::byte*>(got.data()));
  end();
  for (uint32_t i = 0; i < got.size(); ++i) {
    const uint32_t thread = i / size, lane = i % size;
    if (got[i] != thread / size * size + lane) return false;
  }
  return true;
}

void WgslDevice::find_subgroups(const WGPUAdapterInfo& info) {
  for (const uint32_t size : sizes_of(info)) {
    if (!acts_as_subgroups(size)) continue;
    properties_->claim(sdk::kSubgroupOps);
    properties_->fields().subgroup_min = properties_->fields().subgroup_max = size;
    return;
  }
}

}  // namespace tenon::wgsl
