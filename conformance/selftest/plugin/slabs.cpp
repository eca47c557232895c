// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/slabs.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "conformance/selftest/plugin/slow_down.hpp"

namespace tenon::planted {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kKnown = 1024;             ///< slabs that a variant tells apart
constexpr uint64_t kPacked = 16;            ///< bytes, less than the alignment that is claimed
constexpr size_t kFew = 256;                ///< slabs beside which a variant packs others
constexpr size_t kResting = 2;              ///< blocks of a size that rest before one is used again
constexpr uint64_t kMostCopied = 64 << 10;  ///< bytes of a map that a variant copies
constexpr size_t kMostCopies = 256;         ///< of a slab
constexpr uint64_t kLarge = 16 << 20;       ///< bytes from which a block does go back to the system

/// As far from a page's begin as what it copies.
struct Copy {
  std::vector<std::byte> bytes;
  uint64_t first, size;
  Copy(const std::byte* from, uint64_t count) : bytes(count + 2 * kPage), size(count) {
    const auto wanted = reinterpret_cast<uintptr_t>(from) % kPage;
    first = (kPage + wanted - reinterpret_cast<uintptr_t>(bytes.data()) % kPage) % kPage;
    std::copy_n(from, count, begin());
  }
  std::byte* begin() { return bytes.data() + first; }
};

}  // namespace

class SlabPool::Slab final : public sdk::HostMemory {
 public:
  /// The slab begins `shift` bytes behind its block, and behind `address`.
  Slab(std::shared_ptr<SlabPool> pool, size_t slot, Block block, std::byte* address, uint64_t size,
       uint64_t shift)
      : HostMemory(address + shift, size),
        pool_(std::move(pool)),
        slot_(slot),
        block_(block),
        shift_(shift) {}
  ~Slab() override { pool_->give_back(slot_, block_); }
  void* map(uint64_t offset, uint64_t size) override {
    if (pool_->variant_ == Variant::slow_answers) slow_down();
    if (pool_->variant_ == Variant::map_offset_16) offset &= UINT16_MAX;
    std::byte* const at = block_.data + shift_ + offset;
    if (pool_->variant_ != Variant::map_is_copy || size > kMostCopied) return at;
    if (copies_.size() == kMostCopies) copies_.pop_front();
    copied_ = at;
    return copies_.emplace_back(at, size).begin();
  }
  void unmap() override {
    if (copied_) std::copy_n(copies_.back().begin(), copies_.back().size, copied_);
    copied_ = nullptr;
  }

 private:
  std::shared_ptr<SlabPool> pool_;
  size_t slot_;
  Block block_;
  uint64_t shift_;
  std::byte* copied_ = nullptr;  ///< what the map under way shows
  std::deque<Copy> copies_;      ///< of maps, kept for who still reads one
};

SlabPool::~SlabPool() {
  for (const auto& [capacity, blocks] : free_)
    for (const Block& block : blocks) std::free(block.data - kPage);
}

SlabPool::Block SlabPool::take(uint64_t size) {
  if (size > uint64_t{1} << 40) throw std::bad_alloc();
  const uint64_t capacity =
      std::max(kPage, size < kLarge ? std::bit_ceil(size) : (size + kPage - 1) / kPage * kPage);
  auto& blocks = free_[capacity];
  if (blocks.size() > kResting) {
    const Block block = blocks.front();
    blocks.pop_front();
    return block;
  }
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kPage, capacity + 2 * kPage));
  if (!data) throw std::bad_alloc();
  return {data + kPage, capacity};
}

std::unique_ptr<sdk::Memory> SlabPool::allocate(uint64_t size) {
  const std::lock_guard lock(mutex_);
  const Block block = take(size);
  const auto slot =
      static_cast<size_t>(std::ranges::find(slots_, false, &Slot::used) - slots_.begin());
  if (slot == slots_.size()) slots_.emplace_back();
  // The device keeps the address of the slab that had the number before.
  const Block before = slots_[slot].block;
  const bool is_stale = variant_ == Variant::stale_pooled && before.data &&
                        before.capacity >= block.capacity && before.capacity < kLarge;
  if (variant_ == Variant::stale_memory && size < kLarge) std::memset(block.data, 0xFF, size);
  slots_[slot] = {is_stale ? before : block, true};
  const size_t known = variant_ == Variant::slabs_1024 ? slot % kKnown : slot;
  const bool is_apart = slots_[known].block.capacity < block.capacity;  // no room in it
  const auto used = static_cast<size_t>(std::ranges::count(slots_, true, &Slot::used));
  const bool is_packed = variant_ == Variant::slabs_256 && used > kFew && size < kPage / 2;
  return std::make_unique<Slab>(shared_from_this(), slot, block,
                                slots_[is_apart ? slot : known].block.data, size,
                                is_packed ? kPacked : 0);
}

void SlabPool::give_back(size_t slot, Block block) {
  const std::lock_guard lock(mutex_);
  slots_[slot].used = false;
  if (block.capacity >= kLarge) {
    slots_[slot].block = {};
    std::free(block.data - kPage);
  } else {
    free_[block.capacity].push_back(block);
  }
}

}  // namespace tenon::planted
