// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/history.hpp"

#include <algorithm>

namespace tenon::conformance::judge {
namespace {

constexpr size_t kMost = 4;
constexpr size_t kMostHistoryBytes = size_t{1} << 18;

size_t bytes_of(const std::vector<Array>& arrays) {
  size_t bytes = 0;
  for (const Array& array : arrays) bytes += array.bytes.size();
  return bytes;
}

}  // namespace

void History::remember(const Case& test, const std::vector<Array>& outputs, SchedulePlanRef plan) {
  if (bytes_of(test.inputs) + bytes_of(outputs) > kMostHistoryBytes) return;
  entries_.push_front({test, outputs, std::move(plan)});
  if (entries_.size() > kMost) entries_.pop_back();
}

const History::Entry* History::draw(uint64_t seed) const {
  if (entries_.empty()) return nullptr;
  return &entries_[std::min<size_t>(seed % kMost, entries_.size() - 1)];
}

}  // namespace tenon::conformance::judge
