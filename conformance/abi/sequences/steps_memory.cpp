// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that make, map, read and write slabs.
#include <algorithm>
#include <cstring>

#include "conformance/abi/huge_slab.hpp"
#include "conformance/abi/sequences/runner.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi::sequences {
namespace {

constexpr uint64_t kPage = 4096;

/// Bytes that are good floats here and there, and anything elsewhere.
std::vector<uint8_t> noise(uint64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> bytes(count);
  for (uint64_t i = 0; i < count; i += 4) {
    const uint64_t bits = random.bits();
    uint32_t word = static_cast<uint32_t>(bits >> 32);
    if (bits % 4 == 0) word %= 200;
    if (bits % 4 == 1) {
      const float small = static_cast<float>(static_cast<int32_t>(word % 401) - 200);
      std::memcpy(&word, &small, sizeof word);
    }
    std::memcpy(bytes.data() + i, &word, std::min<uint64_t>(4, count - i));
  }
  return bytes;
}

}  // namespace

bool SequenceRunner::device(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kDeviceSlots);
  if (slot == 0 || seats_[slot]) return false;
  // A device of its own options only where it is the one under test.
  const auto index = static_cast<uint32_t>(numbers.slot(1, subject_.devices));
  const bool same = index == subject_.index;
  seats_[slot] =
      std::make_unique<Seat>(subject_, index, same ? subject_.options_or_null() : nullptr);
  return true;
}

bool SequenceRunner::allocate(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots), device = numbers.slot(1, kDeviceSlots);
  if (slabs_[slot] || !seats_[device]) return false;
  const OpenDevice& opened = seats_[device]->opened;
  Slab slab;
  slab.device = device;
  slab.space = static_cast<uint32_t>(numbers.slot(2, static_cast<int64_t>(opened.spaces().size())));
  const tn_memory_space& space = opened.spaces()[slab.space];
  uint64_t size = std::max<uint64_t>(numbers.size(3), 1);
  if (space.largest) size = std::min(size, space.largest);
  if (bytes_ + size > kMostMemoryBytes) return false;
  slab.memory = opened.allocate(slab.space, size);
  if (!slab.memory) return false;
  slab.resize(size);
  bytes_ += size;
  slabs_[slot] = std::move(slab);
  return true;
}

bool SequenceRunner::import(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots), device = numbers.slot(1, kDeviceSlots);
  if (slabs_[slot] || !seats_[device] || !subject_.table.memory_import) return false;
  const OpenDevice& opened = seats_[device]->opened;
  for (uint32_t s = 0; s < opened.spaces().size(); ++s) {
    if (!(opened.spaces()[s].flags & TN_MEMORY_IMPORT)) continue;
    // Whole pages, which every driver can take.
    const uint64_t size = (std::max<uint64_t>(numbers.size(2), 1) + kPage - 1) / kPage * kPage;
    if (bytes_ + size > kMostMemoryBytes) return false;
    Slab slab;
    slab.device = device;
    slab.space = s;
    slab.imported.assign(size + kPage, 0x11);
    const auto address = reinterpret_cast<uintptr_t>(slab.imported.data());
    slab.imported_at = (kPage - address % kPage) % kPage;
    tn_error error = abi_struct<tn_error>();
    tn_memory* memory = nullptr;
    expect_ok(
        subject_.table.memory_import(opened.handle(), s, slab.imported.data() + slab.imported_at,
                                     size, &memory, &error),
        error, "memory_import");
    slab.memory = opened.own(memory);
    slab.resize(size);
    slab.fill(0, size, 0x11, 1, step_);
    bytes_ += size;
    slabs_[slot] = std::move(slab);
    return true;
  }
  return false;
}

bool SequenceRunner::huge(const Numbers& numbers) {
  Seat* seat = seat_of(numbers, 0);
  if (!seat) return false;
  seat->lane.raise();
  return try_huge_slab(seat->opened);
}

bool SequenceRunner::free(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots);
  if (!slabs_[slot] || slabs_[slot]->mapped) return false;
  drop_slab(slot);
  return true;
}

bool SequenceRunner::write(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots);
  if (!slabs_[slot]) return false;
  Slab& slab = *slabs_[slot];
  const uint64_t offset = std::min(numbers.size(1), slab.size());
  const uint64_t count = std::min(numbers.size(2), slab.size() - offset);
  if (count == 0) return false;
  const std::vector<uint8_t> bytes = noise(count, numbers.size(3));
  if (slab.mapped) {
    if (offset < slab.mapped_begin || offset + count > slab.mapped_end) return false;
    std::memcpy(slab.mapped + (offset - slab.mapped_begin), bytes.data(), count);
  } else {
    settle({slot, offset, offset + count, true});
    const OpenDevice& opened = seats_[slab.device]->opened;
    if (!opened.is_visible(slab.space)) {
      if (!opened.window_to(slab.space)) return false;
      seats_[slab.device]->lane.raise();  // staging is work that must not wait
    }
    opened.write(slab.memory.get(), slab.space, offset, bytes);
  }
  slab.set(offset, bytes.data(), count, step_);
  return true;
}

bool SequenceRunner::read(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots);
  if (!slabs_[slot]) return false;
  const Slab& slab = *slabs_[slot];
  const uint64_t offset = std::min(numbers.size(1), slab.size()), left = slab.size() - offset;
  const uint64_t count = numbers.size(2) ? std::min(numbers.size(2), left) : left;
  if (count == 0) return false;
  std::vector<uint8_t> bytes(count);
  if (slab.mapped) {
    if (offset < slab.mapped_begin || offset + count > slab.mapped_end) return false;
    std::memcpy(bytes.data(), slab.mapped + (offset - slab.mapped_begin), count);
  } else {
    settle({slot, offset, offset + count, false});
    const OpenDevice& opened = seats_[slab.device]->opened;
    if (!opened.is_visible(slab.space)) {
      if (!opened.window_from(slab.space)) return false;
      seats_[slab.device]->lane.raise();  // staging is work that must not wait
    }
    opened.read(slab.memory.get(), slab.space, offset, bytes);
  }
  slab.compare(slot, offset, bytes, "at " + where());
  return true;
}

bool SequenceRunner::map(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots);
  if (!slabs_[slot] || slabs_[slot]->mapped) return false;
  Slab& slab = *slabs_[slot];
  const OpenDevice& opened = seats_[slab.device]->opened;
  if (!opened.is_visible(slab.space)) return false;
  const uint64_t offset = std::min(numbers.size(1), slab.size());
  const uint64_t count = std::min(std::max<uint64_t>(numbers.size(2), 1), slab.size() - offset);
  if (count == 0) return false;
  // Whatever is in flight may not touch the range while it is mapped.
  settle({slot, offset, offset + count, true});
  slab.mapped = static_cast<uint8_t*>(opened.map(slab.memory.get(), offset, count));
  slab.mapped_begin = offset;
  slab.mapped_end = offset + count;
  slab.compare(slot, offset, {slab.mapped, count}, "at " + where());
  return true;
}

bool SequenceRunner::unmap(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kSlabSlots);
  if (!slabs_[slot] || !slabs_[slot]->mapped) return false;
  Slab& slab = *slabs_[slot];
  // Bytes that nobody wrote to are whatever the host leaves there.
  seats_[slab.device]->opened.unmap(slab.memory.get());
  slab.mapped = nullptr;
  return true;
}

}  // namespace tenon::conformance::abi::sequences
