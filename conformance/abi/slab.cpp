// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/slab.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::conformance::abi {

bool conflict(const Access& a, const Access& b) {
  return a.slab == b.slab && a.begin < b.end && b.begin < a.end && (a.writes || b.writes);
}

void Slab::resize(uint64_t size) {
  bytes.assign(size, 0);
  known.assign(size, 0);
  writes.clear();
}

void Slab::note(uint64_t offset, uint64_t count, size_t step) {
  if (offset == 0 && count == size()) writes.clear();  // nothing of before is left
  writes.push_back({offset, offset + count, step});
}

ModelBytes Slab::range(uint64_t offset, uint64_t count) {
  return {std::span(bytes).subspan(offset, count), std::span(known).subspan(offset, count)};
}

void Slab::set(uint64_t offset, const uint8_t* from, uint64_t count, size_t step) {
  std::memcpy(bytes.data() + offset, from, count);
  std::memset(known.data() + offset, 1, count);
  note(offset, count, step);
}

void Slab::fill(uint64_t offset, uint64_t count, uint64_t pattern, uint32_t width, size_t step) {
  uint8_t* const to = bytes.data() + offset;
  for (uint64_t i = 0; i < std::min<uint64_t>(count, width); ++i)
    to[i] = static_cast<uint8_t>(pattern >> (i * 8));
  for (uint64_t done = width; done < count; done *= 2)
    std::memcpy(to + done, to, std::min(done, count - done));
  std::memset(known.data() + offset, 1, count);
  note(offset, count, step);
}

void Slab::copy(uint64_t offset, const Slab& from, uint64_t from_offset, uint64_t count,
                size_t step) {
  std::memcpy(bytes.data() + offset, from.bytes.data() + from_offset, count);
  std::memcpy(known.data() + offset, from.known.data() + from_offset, count);
  note(offset, count, step);
}

void Slab::compare(size_t slab, uint64_t offset, std::span<const uint8_t> got,
                   const std::string& when) const {
  if (std::memcmp(bytes.data() + offset, got.data(), got.size()) == 0) return;
  for (uint64_t i = 0; i < got.size(); ++i) {
    const uint64_t at = offset + i;
    if (!known[at] || bytes[at] == got[i]) continue;
    uint64_t wrong = 0;
    for (uint64_t k = i; k < got.size(); ++k)
      wrong += known[offset + k] && bytes[offset + k] != got[k];
    size_t step = 0;
    for (const Write& write : writes)
      if (write.begin <= at && at < write.end) step = write.step;
    find("mismatch",
         "slab {} byte {}: expected {:#04x} from step {}, got {:#04x} {}; {} of {} bytes differ",
         slab, at, bytes[at], step, got[i], when, wrong, got.size());
  }
}

void Slab::compare_bound(size_t slab, uint64_t begin, uint64_t count, std::span<const uint8_t> got,
                         const std::string& when) const {
  const uint64_t end = begin + count;
  const auto is_bound = [&](uint64_t i) { return begin <= i && i < end; };
  uint64_t inside = 0, outside = 0, first = size();
  for (uint64_t i = 0; i < got.size(); ++i) {
    if (!known[i] || bytes[i] == got[i]) continue;
    ++(is_bound(i) ? inside : outside);
    if (!is_bound(i)) first = std::min(first, i);
  }
  // Where all is wrong, the launch is not what spoilt it.
  if (outside > 0 && outside * 2 < got.size() - count)
    abi::find("guard",
              "byte {} {} the {} of slab {} that are bound: expected {:#04x}, got {:#04x} {}{}",
              first < begin ? begin - first : first - end, first < begin ? "before" : "after",
              count, slab, bytes[first], got[first], when,
              inside ? fmt::format("; {} of those are wrong too", inside) : "");
  compare(slab, 0, got, when);
}

}  // namespace tenon::conformance::abi
