// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/guards.hpp"

#include <fmt/format.h>

namespace tenon {

void Guards::add(tn_memory* memory, uint64_t offset, uint64_t size, const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  zones_[{memory, offset}] = {size, purpose, poison_};
}

void Guards::remove(tn_memory* memory, uint64_t offset, const Read& read) {
  const std::lock_guard lock(mutex_);
  const auto at = zones_.find({memory, offset});
  if (at == zones_.end()) return;
  const auto zone = zones_.extract(at);
  if (found_.empty()) found_ = damage(zone.key(), zone.mapped(), read);
}

std::string Guards::check(const Read& read) {
  const std::lock_guard lock(mutex_);
  for (auto at = zones_.begin(); found_.empty() && at != zones_.end(); ++at)
    found_ = damage(at->first, at->second, read);
  return found_;
}

std::string Guards::damage(const Key& key, const Zone& zone, const Read& read) const {
  std::vector<uint8_t> bytes(bytes_);
  for (const bool before : {true, false}) {
    read(key.first, before ? key.second - bytes_ : key.second + zone.size, bytes.data(), bytes_);
    for (uint64_t i = 0; i < bytes_; ++i) {
      if (bytes[i] == zone.poison) continue;
      return fmt::format(
          "[guard] {}: expected byte {} {} its {} bytes to be 0x{:02x}, got 0x{:02x}",
          zone.purpose.empty() ? "a buffer" : zone.purpose, before ? bytes_ - i : i,
          before ? "before" : "after", zone.size, zone.poison, bytes[i]);
    }
  }
  return "";
}

}  // namespace tenon
