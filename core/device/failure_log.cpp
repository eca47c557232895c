// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "core/device/queue.hpp"
#include "core/plugin/status.hpp"

namespace tenon {
namespace {

constexpr size_t kMostRanges =
    256;  ///< then the oldest are dropped: their buffers were released long ago

}  // namespace

void FailureLog::add(uint64_t first, uint64_t last, int32_t status, const tn_error& error) {
  const bool lost = status == TN_ERROR_DEVICE_LOST;
  add({first, last, error_kind(status),
       fmt::format("[submit] {}: {}", owner_, error_message(status, error)), lost});
}

void FailureLog::add(uint64_t first, uint64_t last, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    add({first, last, e.kind(), e.what()});
  } catch (const std::bad_alloc&) {
    add({first, last, ErrorKind::kOutOfMemory, fmt::format("[copy] {}: no memory", owner_)});
  } catch (const std::exception& e) {
    add({first, last, ErrorKind::kInternal, fmt::format("[copy] {}: {}", owner_, e.what())});
  }
}

void FailureLog::add(Range range) {
  if (ranges_.size() == kMostRanges && !pending_) ranges_.erase(ranges_.begin());
  lost_ = lost_ || range.lost;
  ranges_.push_back(std::move(range));
  if (!pending_) reported_ = ranges_.size() - 1;
  pending_ = true;
  is_empty_.store(false, std::memory_order_release);
}

const FailureLog::Range* FailureLog::at(uint64_t number) const {
  for (const Range& range : ranges_)
    if (number >= range.first && (number <= range.last || range.lost)) return &range;
  return nullptr;
}

bool FailureLog::has_succeeded(uint64_t number, uint64_t submitted, bool is_reported,
                               std::string& text, ErrorKind& kind) {
  const Range* range = at(number);
  if (!range) return true;
  text = range->text;
  kind = range->kind;
  if (is_reported && pending_ && range == &ranges_[reported_]) {
    ranges_[reported_].last = std::max(ranges_[reported_].last, submitted);
    pending_ = lost_;
  }
  return false;
}

void FailureLog::throw_pending() {
  if (!pending_) return;
  const Range range = ranges_[reported_];
  pending_ = lost_;
  throw Error(range.kind, range.text);
}

void FailureLog::throw_lost() const {
  for (const Range& range : ranges_)
    if (range.lost) throw Error(range.kind, range.text);
}

}  // namespace tenon
