// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Liveness, then the better of two packings: greedy by size, for plans of ordinary length, and a
// sweep over time with a free list.
#include "core/schedule/memory_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/schedule/uses.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr size_t kMostGreedy = 4096;  // blocks: the greedy packing is quadratic

struct Block {
  int64_t size = 0;
  int first = 0, last = -1;
  int64_t offset = 0;
};

int64_t aligned(int64_t bytes, int64_t alignment) {
  int64_t up = 0;
  TN_REQUIRE(!__builtin_add_overflow(bytes, alignment - 1, &up),
             "[memory plan] expected sizes below 2^63 bytes, got {} bytes in one buffer", bytes);
  return up / alignment * alignment;
}

int64_t bytes_of(const ScheduledBuffer& buffer, const std::map<std::string, int64_t>& symbols) {
  int64_t bytes = static_cast<int64_t>(dtype_size(buffer.dtype));
  for (const Dim& dim : buffer.shape) {
    const int64_t size = dim.evaluate(symbols);
    TN_REQUIRE(size >= 0, "[memory plan] expected a size of at least 0, got {} for {}", size,
               to_string(dim));
    TN_REQUIRE(!__builtin_mul_overflow(bytes, size, &bytes),
               "[memory plan] expected sizes below 2^63 bytes, got {}{}", dtype_name(buffer.dtype),
               to_string(buffer.shape));
  }
  return bytes;
}

/// Largest first, each in the smallest gap between blocks that are alive at the same time.
int64_t pack_by_size(std::vector<Block>& blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return blocks[a].size > blocks[b].size; });
  std::vector<size_t> placed;  // by offset
  int64_t total = 0;
  for (size_t i : order) {
    Block& block = blocks[i];
    int64_t end = 0, best = -1, best_gap = 0;
    for (size_t p : placed) {
      const Block& other = blocks[p];
      if (other.last < block.first || block.last < other.first) continue;
      const int64_t gap = other.offset - end;
      if (gap >= block.size && (best < 0 || gap < best_gap)) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, other.offset + other.size);
    }
    block.offset = best >= 0 ? best : end;
    const auto after = std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) {
      return blocks[a].offset < blocks[b].offset;
    });
    placed.insert(after, i);
    total = std::max(total, block.offset + block.size);
  }
  return total;
}

/// Free ranges of an arena that grows at its end.
class FreeList {
 public:
  int64_t take(int64_t size) {
    const auto fit = by_size_.lower_bound({size, 0});
    if (fit == by_size_.end()) {
      int64_t begin = end_;
      const auto tail = ranges_.empty() ? ranges_.end() : std::prev(ranges_.end());
      if (tail != ranges_.end() && tail->first + tail->second == end_) {
        begin = tail->first;
        by_size_.erase({tail->second, tail->first});
        ranges_.erase(tail);
      }
      end_ = begin + size;
      return begin;
    }
    const auto [length, begin] = *fit;
    by_size_.erase(fit);
    ranges_.erase(begin);
    if (length > size) add(begin + size, length - size);
    return begin;
  }

  void give(int64_t begin, int64_t size) {
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first == begin + size) {
      size += next->second;
      by_size_.erase({next->second, next->first});
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == begin) {
        begin = before->first;
        size += before->second;
        by_size_.erase({before->second, before->first});
        ranges_.erase(before);
      }
    }
    add(begin, size);
  }

  int64_t end() const { return end_; }

 private:
  void add(int64_t begin, int64_t size) {
    ranges_[begin] = size;
    by_size_.insert({size, begin});
  }

  std::map<int64_t, int64_t> ranges_;  // begin, size
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

int64_t pack_by_time(std::vector<Block>& blocks) {
  std::vector<size_t> begins(blocks.size());
  std::iota(begins.begin(), begins.end(), size_t{0});
  std::vector<size_t> ends = begins;
  std::stable_sort(begins.begin(), begins.end(), [&](size_t a, size_t b) {
    return std::pair(blocks[a].first, -blocks[a].size) <
           std::pair(blocks[b].first, -blocks[b].size);
  });
  std::stable_sort(ends.begin(), ends.end(),
                   [&](size_t a, size_t b) { return blocks[a].last < blocks[b].last; });
  FreeList free;
  size_t ended = 0;
  for (size_t i : begins) {
    for (; ended < ends.size() && blocks[ends[ended]].last < blocks[i].first; ++ended)
      free.give(blocks[ends[ended]].offset, blocks[ends[ended]].size);
    blocks[i].offset = free.take(blocks[i].size);
  }
  return free.end();
}

int64_t pack(std::vector<Block>& blocks) {
  std::vector<Block> swept = blocks;
  const int64_t by_time = pack_by_time(swept);
  if (blocks.size() <= kMostGreedy && pack_by_size(blocks) <= by_time) {
    int64_t total = 0;
    for (const Block& block : blocks) total = std::max(total, block.offset + block.size);
    return total;
  }
  blocks = std::move(swept);
  return by_time;
}

}  // namespace

std::vector<int> owners(const Schedule& schedule) {
  std::vector<int> owner(schedule.buffers.size());
  std::iota(owner.begin(), owner.end(), 0);
  for (const Step& step : schedule.steps) {
    const auto* call = std::get_if<KernelCall>(&step.call);
    if (!call) continue;
    for (size_t o = 0; o < call->outputs.size(); ++o)
      if (call->alias[o] >= 0) owner[call->outputs[o]] = owner[call->inputs[call->alias[o]]];
  }
  return owner;
}

MemoryPlan plan_memory(const Schedule& schedule, const std::map<std::string, int64_t>& symbols,
                       int64_t alignment) {
  TN_REQUIRE(alignment >= 1, "[memory plan] expected an alignment of at least 1, got {}",
             alignment);
  const size_t count = schedule.buffers.size();
  MemoryPlan out;
  out.offset.assign(count, -1);
  out.arena_bytes.assign(schedule.devices.size(), 0);
  for (const ScheduledBuffer& buffer : schedule.buffers) {
    out.bytes.push_back(bytes_of(buffer, symbols));
    if (buffer.kind == BufferKind::kTemporary) out.sum_bytes += out.bytes.back();
  }
  const std::vector<int> owner = owners(schedule);
  const std::vector<scheduling::Lifetime> lives = scheduling::lifetimes(schedule);
  std::vector<scheduling::Lifetime> together(count);
  for (size_t b = 0; b < count; ++b) {
    scheduling::Lifetime& life = together[owner[b]];
    life.first = std::min(life.first, lives[b].first);
    life.last = std::max(life.last, lives[b].last);
  }
  for (size_t device = 0; device < schedule.devices.size(); ++device) {
    std::vector<Block> blocks;
    std::vector<size_t> buffer_of;
    for (size_t b = 0; b < count; ++b) {
      if (schedule.buffers[b].kind != BufferKind::kTemporary || owner[b] != static_cast<int>(b) ||
          schedule.buffers[b].device != static_cast<int>(device))
        continue;
      if (out.bytes[b] == 0 || together[b].first > together[b].last) {
        out.offset[b] = 0;
        continue;
      }
      blocks.push_back({aligned(out.bytes[b], alignment), together[b].first, together[b].last});
      buffer_of.push_back(b);
    }
    out.arena_bytes[device] = pack(blocks);
    for (size_t k = 0; k < blocks.size(); ++k) out.offset[buffer_of[k]] = blocks[k].offset;
  }
  for (size_t b = 0; b < count; ++b)
    if (schedule.buffers[b].kind == BufferKind::kTemporary) out.offset[b] = out.offset[owner[b]];
  return out;
}

}  // namespace tenon
