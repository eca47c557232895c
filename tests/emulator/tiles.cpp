// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the helpers of sdk/render/cuda_helpers.cpp for products of tiles in shared memory do.
#include "tests/emulator/sums.hpp"

// ---- wgmma: four warps; operands where their descriptors say ----
// "Matrix Descriptor Format" and "Shared Memory Matrix Layout" with swizzling of 128 bytes: groups
// of 8 lines, in which elements lie along k for a matrix that is k-major, else along its other
// dimension. "stride" is the step between groups, "leading" the one between lines side by side.
namespace emulator {
namespace {

const void* last_shared = nullptr;  ///< that was asked for its address

struct Tile {
  const char* begin;
  unsigned leading, stride;
};

/// Bits 0 to 13 are the address in units of 16 bytes, 16 to 29 and 32 to 45 the steps, 62 and 63
/// the swizzling. Shared memory is at most half of what 18 bits of an address tell apart.
Tile tile_of(uint64_t descriptor) {
  if (descriptor >> 49 != uint64_t{1} << 13) fail("a tile that is not in lines of 128 bytes");
  const uint64_t low = (descriptor & 0x3fff) << 4, near = reinterpret_cast<uint64_t>(last_shared);
  uint64_t at = (near & ~uint64_t{0x3ffff}) | low;
  if (at > near && at - near > 0x20000) at -= 0x40000;
  if (at < near && near - at > 0x20000) at += 0x40000;
  if (at % 1024 >= 128) fail("a tile that does not begin in the first of eight lines");
  return {reinterpret_cast<const char*>(at), static_cast<unsigned>(descriptor >> 16 & 0x3fff) << 4,
          static_cast<unsigned>(descriptor >> 32 & 0x3fff) << 4};
}

uint16_t tile_element(const Tile& tile, unsigned other, unsigned k, bool is_k_major) {
  const unsigned row = is_k_major ? other : k, column = is_k_major ? k : other;
  const auto plain =
      reinterpret_cast<uintptr_t>(tile.begin + column / 64 * tile.leading + row / 8 * tile.stride +
                                  row % 8 * 128 + column % 64 * 2);
  const auto* at = reinterpret_cast<const char*>(plain ^ (plain >> 7 & 7) << 4);
  touch(at, 2, false);
  return *reinterpret_cast<const uint16_t*>(at);
}

/// "Register Fragments for wgmma.mma_async.m64nNk16": the sums of a thread.
template <unsigned N>
void wgmma(float* d, const Tile& a, const Tile& b, bool a_k_major, bool b_k_major,
           float (*decode)(uint16_t)) {
  Thread& own = *machine.current;
  if (!own.shown) fail("products of tiles that no fence has shown to the matrix units");
  own.multiplies = true;
  const unsigned thread = lane(), warp = thread / 32, in_warp = thread % 32;
  for (unsigned i = 0; i < N / 2; ++i) {
    const unsigned row = warp * 16 + in_warp / 4 + (i / 2 % 2) * 8;
    const unsigned column = i / 4 * 8 + in_warp % 4 * 2 + i % 2;
    float left[16], right[16];
    for (unsigned k = 0; k < 16; ++k) {
      left[k] = decode(tile_element(a, row, k, a_k_major));
      right[k] = decode(tile_element(b, column, k, b_k_major));
    }
    d[i] = Cut()(d[i], left, right, 16);
  }
}

}  // namespace
}  // namespace emulator

unsigned long __cvta_generic_to_shared(const void* p) {
  emulator::last_shared = p;
  return reinterpret_cast<unsigned long>(p);
}
void emulate_wgmma_n64(float* d, unsigned long long a, unsigned long long b, bool is_a_turned,
                       bool is_b_turned, bool is_brain) {
  using namespace emulator;
  wgmma<64>(d, tile_of(a), tile_of(b), !is_a_turned, !is_b_turned, is_brain ? brain : half);
}
void tn_products_wait() { emulator::machine.current->multiplies = false; }
void emulate_hold() {
  if (emulator::machine.current->multiplies) emulator::fail("sums used while they are added to");
}
void tn_tiles_written() { emulator::machine.current->fenced = true; }
void tn_group_barrier(unsigned id) {
  if (id != 1 + emulator::machine.current->number / 128) emulator::fail("a barrier of others");
  __syncwarp();
}
