// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/pool.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr uint64_t kSmallestSlab = uint64_t{1} << 20;
constexpr uint64_t kLargestShared = uint64_t{32}
                                    << 20;  ///< bytes of a slab for more than one block
constexpr size_t kHoldersShown = 5;

uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Pool::Pool(SlabSource& source, PoolOptions options)
    : source_(source), options_(std::move(options)) {}

Pool::~Pool() {
  for (auto& [memory, slab] : slabs_) {
    for (auto& [offset, chunk] : slab->chunks) source_.wait_idle(chunk.ready);
    source_.free_slab(memory);
  }
}

Pool::Block Pool::allocate(uint64_t size, const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  Block block;
  refusal_.clear();
  if (size > std::numeric_limits<int64_t>::max()) fail_out_of_memory(size, purpose);
  const uint64_t rounded = round_up(size, options_.alignment);
  if (take(rounded, purpose, block)) return block;
  if (grow(rounded) && take(rounded, purpose, block)) return block;
  if (trim_locked() && add_slab(rounded) && take(rounded, purpose, block)) return block;
  fail_out_of_memory(size, purpose);
}

bool Pool::take(uint64_t size, const std::string& purpose, Block& out) {
  const auto best = free_.lower_bound(FreeKey{size, nullptr, 0});
  if (best == free_.end()) return false;
  const auto [free_size, slab, offset] = *best;
  free_.erase(best);
  Chunk& chunk = slab->chunks.find(offset)->second;
  if (free_size > size) {
    Chunk rest;
    rest.size = free_size - size;
    rest.ready = chunk.ready;
    slab->chunks.emplace(offset + size, std::move(rest));
    free_.emplace(free_size - size, slab, offset + size);
  }
  chunk.size = size;
  chunk.used = true;
  chunk.purpose = purpose;
  in_use_ += size;
  out = {slab->memory, offset, chunk.ready};
  return true;
}

/// Allocates a slab with room for later blocks, or one of just this size if that fails.
bool Pool::grow(uint64_t size) {
  const uint64_t shared = std::clamp(reserved_, kSmallestSlab, kLargestShared);
  return (size < shared && add_slab(shared)) || add_slab(size);
}

bool Pool::add_slab(uint64_t size) {
  if (options_.largest_slab != 0 && size > options_.largest_slab) return false;
  if (options_.limit != 0 && (size > options_.limit || reserved_ > options_.limit - size))
    return false;
  auto slab = std::make_unique<Slab>();
  try {
    slab->memory = source_.allocate_slab(size);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    refusal_ = error.what();
    TN_LOG("memory", "{}: a slab of {} was refused: {}", options_.owner, bytes_text(size),
           refusal_);
    return false;
  }
  TN_LOG("memory", "{}: a slab of {}", options_.owner, bytes_text(size));
  slab->size = size;
  slab->chunks[0].size = size;
  free_.emplace(size, slab.get(), 0);
  reserved_ += size;
  slabs_.emplace(slab->memory, std::move(slab));
  return true;
}

void Pool::release(tn_memory* memory, uint64_t offset, uint64_t last_use) noexcept {
  const std::lock_guard lock(mutex_);
  Slab& slab = *slabs_.find(memory)->second;
  auto at = slab.chunks.find(offset);
  at->second.used = false;
  at->second.purpose.clear();
  at->second.ready = std::max(at->second.ready, last_use);
  in_use_ -= at->second.size;
  if (const auto next = std::next(at); next != slab.chunks.end() && !next->second.used) {
    free_.erase({next->second.size, &slab, next->first});
    at->second.size += next->second.size;
    at->second.ready = std::max(at->second.ready, next->second.ready);
    slab.chunks.erase(next);
  }
  if (at != slab.chunks.begin() && !std::prev(at)->second.used) {
    const auto previous = std::prev(at);
    free_.erase({previous->second.size, &slab, previous->first});
    previous->second.size += at->second.size;
    previous->second.ready = std::max(previous->second.ready, at->second.ready);
    slab.chunks.erase(at);
    at = previous;
  }
  free_.emplace(at->second.size, &slab, at->first);
}

bool Pool::trim_locked() {
  std::vector<Slab*> unused;
  for (const auto& [size, slab, offset] : free_)
    if (size == slab->size) unused.push_back(slab);
  for (Slab* slab : unused) {
    source_.wait_idle(slab->chunks.begin()->second.ready);
    free_.erase({slab->size, slab, 0});
    reserved_ -= slab->size;
    source_.free_slab(slab->memory);
    slabs_.erase(slab->memory);
  }
  if (!unused.empty()) TN_LOG("memory", "{}: trimmed {} slabs", options_.owner, unused.size());
  return !unused.empty();
}

void Pool::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

uint64_t Pool::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

uint64_t Pool::bytes_reserved() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

void Pool::fail_out_of_memory(uint64_t size, const std::string& purpose) const {
  struct Holder {
    uint64_t bytes = 0;
    int blocks = 0;
  };
  std::map<std::string, Holder> by_purpose;
  for (const auto& [memory, slab] : slabs_) {
    for (const auto& [offset, chunk] : slab->chunks) {
      if (!chunk.used) continue;
      Holder& holder = by_purpose[chunk.purpose.empty() ? "unnamed" : chunk.purpose];
      holder.bytes += chunk.size;
      ++holder.blocks;
    }
  }
  std::vector<std::pair<std::string, Holder>> holders(by_purpose.begin(), by_purpose.end());
  std::ranges::stable_sort(
      holders, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::string list;
  for (size_t i = 0; i < std::min(holders.size(), kHoldersShown); ++i)
    list += fmt::format("{}{} {} in {} block{}", i ? ", " : "; largest holders: ", holders[i].first,
                        bytes_text(holders[i].second.bytes), holders[i].second.blocks,
                        holders[i].second.blocks == 1 ? "" : "s");
  const std::string bound =
      options_.limit ? fmt::format(" of @pool={}", bytes_text(options_.limit)) : "";
  fail(ErrorKind::kOutOfMemory,
       "[allocate] {}: expected {} of free memory for {}, got {} in use{}{}", options_.owner,
       bytes_text(size), purpose.empty() ? "a buffer" : purpose, bytes_text(in_use_), bound,
       refusal_.empty() ? list : fmt::format("{}; {}", list, refusal_));
}

}  // namespace tenon
