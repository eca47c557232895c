// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets that do not fit 31 and 32 bits, or 28 and 29, in a slab of which few pages are ever
// touched.
#include "conformance/abi/huge_slab.hpp"

#include <array>
#include <fstream>
#include <limits>
#include <string>

#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kPiece = 256;

struct Places {
  uint64_t size;  ///< bytes of the slab
  std::array<uint64_t, 5> at;
};
constexpr Places kHuge = {4 * kGiB + (1 << 16),
                          {0, 2 * kGiB - 128, 2 * kGiB + 4096, 4 * kGiB - 128, 4 * kGiB + 4096}};
constexpr Places kHalfGiB = {kGiB / 2 + (1 << 16),
                             {0, kGiB / 4 - 128, kGiB / 4 + 4096, kGiB / 2 - 128, kGiB / 2 + 4096}};

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

bool has_room(const OpenDevice& device, uint64_t size) {
  const tn_memory_space& space = device.spaces()[0];
  return (space.largest == 0 || space.largest >= size) &&
         (space.total == 0 || space.total >= size + size / 4) && free_host_bytes() >= 2 * size;
}

void expect_words(const OpenDevice& device, tn_memory* memory, uint64_t offset, uint32_t expected,
                  const char* after) {
  uint32_t words[kPiece / 4];
  device.read(memory, 0, offset, {reinterpret_cast<uint8_t*>(words), kPiece});
  for (uint64_t i = 0; i < std::size(words); ++i)
    if (words[i] != expected)
      find("mismatch", "a huge slab, byte {}: expected {:#x} {}, got {:#x}", offset + i * 4,
           expected, after, words[i]);
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

/// y[to + i] = y[base + i], for 64 elements.
sdk::Program load_from(uint64_t base, uint64_t to) {
  sdk::ProgramBuilder b("from_far");
  const auto y = b.buffer("y", TN_DTYPE_U32, TN_ACCESS_READ | TN_ACCESS_WRITE);
  const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto place = [&](uint64_t begin) {
    return b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {i, b.constant(TN_DTYPE_I32, begin)});
  };
  const auto value = b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {y, place(base)});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, place(to), value});
  return b.finish();
}

/// Whether it computes u32, in a workgroup for each word of a piece.
bool takes_words(const OpenDevice& device) {
  const uint32_t groups = device.properties().max_grid[0];
  return device.computes() && (device.dtype_flags(TN_DTYPE_U32) & TN_DTYPE_ARITHMETIC) &&
         (groups == 0 || groups >= kPiece / 4);
}

void launch_stores(const OpenDevice& device, tn_memory* memory, const Places& places) {
  const uint64_t most = device.properties().max_buffer_bytes;
  if (!takes_words(device)) return;
  if (most != 0 && most < places.size) return;
  const auto runs = [&](const sdk::Program& program) {
    const CompileAnswer answer = device.compile(*program.get());
    if (!answer.executable) return false;
    const tn_argument argument = buffer_argument(memory, 0, places.size);
    const tn_command command =
        launch_command(answer.executable.get(), {kPiece / 4, 1, 1}, {}, {&argument, 1});
    device.run({&command, 1});
    return true;
  };
  uint32_t value = 0x51000000;
  for (const uint64_t place : places.at) {
    if (!runs(store_at(place / 4, ++value))) return;
    expect_words(device, memory, place, value, "after a launch");
  }
  // None of them has hit the place of another.
  for (uint32_t k = 0; k < places.at.size(); ++k)
    expect_words(device, memory, places.at[k], 0x51000001 + k, "after launches");
  for (uint32_t k = 0; k < places.at.size(); ++k) {
    if (!runs(load_from(places.at[k] / 4, kPiece * 2 / 4))) return;
    expect_words(device, memory, kPiece * 2, 0x51000001 + k, "after a launch that reads afar");
  }
}

/// Bound is only what lies at the place; a second program reads it, bound elsewhere.
void launch_bound(const OpenDevice& device, tn_memory* memory, const Places& places) {
  constexpr uint64_t kNear = 8192;
  if (!takes_words(device)) return;
  sdk::ProgramBuilder b("bound");
  const auto to = b.buffer("to", TN_DTYPE_U32, TN_ACCESS_WRITE);
  const auto from = b.buffer("from", TN_DTYPE_U32, TN_ACCESS_READ);
  const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto one = b.constant(TN_DTYPE_U32, 1);
  const auto value = b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {from, i});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {to, i, b.op(TN_OP_ADD, TN_DTYPE_U32, 1, {value, one})});
  const CompileAnswer answer = device.compile(*b.finish().get());
  if (!answer.executable) return;
  uint32_t value_there = 0x52000000;
  const tn_command command = fill_command(memory, kNear, kPiece, value_there, 4);
  device.run({&command, 1});
  const auto copy = [&](uint64_t to_byte, uint64_t from_byte) {
    const tn_argument arguments[] = {buffer_argument(memory, to_byte, kPiece),
                                     buffer_argument(memory, from_byte, kPiece)};
    const tn_command launched =
        launch_command(answer.executable.get(), {kPiece / 4, 1, 1}, {}, arguments);
    device.run({&launched, 1});
    expect_words(device, memory, to_byte, ++value_there, "after a launch bound there");
  };
  for (const uint64_t place : {places.at[2], places.at[4]}) {
    copy(place, kNear);
    copy(kNear, place);
  }
}

bool try_places(const OpenDevice& device, const Places& places) {
  if (!device.submits()) return false;
  if (!device.is_visible(0) && !(device.window_from(0) && device.window_to(0))) return false;
  if (!has_room(device, places.size)) return false;
  const MemoryHandle memory = device.allocate(0, places.size);
  if (!memory) return false;
  for (uint32_t k = 0; k < places.at.size(); ++k) {
    const tn_command command = fill_command(memory.get(), places.at[k], kPiece, 0x50000000 + k, 4);
    device.run({&command, 1});
  }
  for (uint32_t k = 0; k < places.at.size(); ++k)
    expect_words(device, memory.get(), places.at[k], 0x50000000 + k, "after fills");
  for (uint32_t k = 1; k < places.at.size(); ++k) {
    const tn_command command =
        copy_command(memory.get(), kPiece, memory.get(), places.at[k], kPiece);
    device.run({&command, 1});
    expect_words(device, memory.get(), kPiece, 0x50000000 + k, "after a copy");
  }
  launch_stores(device, memory.get(), places);
  launch_bound(device, memory.get(), places);
  return true;
}

}  // namespace

bool try_huge_slab(const OpenDevice& device) { return try_places(device, kHuge); }
bool try_half_gib_slab(const OpenDevice& device) { return try_places(device, kHalfGiB); }

}  // namespace tenon::conformance::abi
