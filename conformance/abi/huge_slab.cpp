// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets that do not fit 31 and 32 bits, in a slab of which few pages are ever touched.
#include "conformance/abi/huge_slab.hpp"

#include <fstream>
#include <limits>
#include <string>

#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kSize = 4 * kGiB + (1 << 16);
constexpr uint64_t kPlaces[] = {0, 2 * kGiB - 128, 2 * kGiB + 4096, 4 * kGiB - 128,
                                4 * kGiB + 4096};
constexpr uint64_t kPiece = 256;

uint64_t free_host_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (word != "MemAvailable:") continue;
    uint64_t kilobytes = 0;
    in >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

bool has_room(const Opened& device) {
  const tn_memory_space& space = device.spaces()[0];
  return (space.largest == 0 || space.largest >= kSize) &&
         (space.total == 0 || space.total >= 2 * kSize) && free_host_bytes() >= 8 * kGiB;
}

void expect_words(const Opened& device, tn_memory* memory, uint64_t offset, uint32_t expected,
                  const char* after) {
  uint32_t words[kPiece / 4];
  device.read(memory, 0, offset, {reinterpret_cast<uint8_t*>(words), kPiece});
  for (uint64_t i = 0; i < std::size(words); ++i)
    if (words[i] != expected)
      find("mismatch", "a slab of {} bytes, byte {}: expected {:#x} {}, got {:#x}", kSize,
           offset + i * 4, expected, after, words[i]);
}

/// y[base + i] = value, for 64 elements.
sdk::Program store_at(uint64_t base, uint32_t value) {
  sdk::ProgramBuilder b("far");
  const auto y = b.buffer("y", TN_DTYPE_U32, TN_ACCESS_WRITE);
  const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto at = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {i, b.constant(TN_DTYPE_I32, base)});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, at, b.constant(TN_DTYPE_U32, value)});
  return b.finish();
}

void launch_stores(const Opened& device, tn_memory* memory) {
  const uint64_t most = device.properties().max_buffer_bytes;
  if (!device.computes() || !(device.dtype_flags(TN_DTYPE_U32) & TN_DTYPE_ARITHMETIC)) return;
  if (most != 0 && most < kSize) return;
  uint32_t value = 0x51000000;
  for (const uint64_t place : kPlaces) {
    const sdk::Program program = store_at(place / 4, ++value);
    const CompileAnswer answer = device.compile(*program.get());
    if (!answer.executable) return;
    tn_argument argument{};
    argument.kind = TN_ARGUMENT_BUFFER;
    argument.memory = memory;
    argument.size = kSize;
    tn_command command = abi_struct<tn_command>();
    command.kind = TN_COMMAND_LAUNCH;
    command.executable = answer.executable.get();
    command.grid[0] = kPiece / 4;
    command.grid[1] = command.grid[2] = 1;
    for (int axis = 0; axis < 3; ++axis) command.block[axis] = command.cluster[axis] = 1;
    command.argument_count = 1;
    command.argument_stride = sizeof(tn_argument);
    command.arguments = &argument;
    device.run({&command, 1});
    expect_words(device, memory, place, value, "after a launch");
  }
  // None of them has hit the place of another.
  for (uint32_t k = 0; k < std::size(kPlaces); ++k)
    expect_words(device, memory, kPlaces[k], 0x51000001 + k, "after launches");
}

}  // namespace

bool try_huge_slab(const Opened& device) {
  if (!device.submits() || !has_room(device)) return false;
  if (!device.is_visible(0) && !(device.window_from(0) && device.window_to(0))) return false;
  const MemoryHandle memory = device.allocate(0, kSize);
  if (!memory) return false;
  for (uint32_t k = 0; k < std::size(kPlaces); ++k) {
    const tn_command command = fill_command(memory.get(), kPlaces[k], kPiece, 0x50000000 + k, 4);
    device.run({&command, 1});
  }
  for (uint32_t k = 0; k < std::size(kPlaces); ++k)
    expect_words(device, memory.get(), kPlaces[k], 0x50000000 + k, "after fills");
  for (uint32_t k = 1; k < std::size(kPlaces); ++k) {
    const tn_command command = copy_command(memory.get(), kPiece, memory.get(), kPlaces[k], kPiece);
    device.run({&command, 1});
    expect_words(device, memory.get(), kPiece, 0x50000000 + k, "after a copy");
  }
  launch_stores(device, memory.get());
  return true;
}

}  // namespace tenon::conformance::abi
