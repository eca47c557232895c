// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/backend/hazards.hpp"

#include <algorithm>

namespace tenon::sdk {
namespace {

constexpr size_t kMany = 64;  // then a barrier is cheaper than comparing

bool collide(const Hazards::Access& a, const Hazards::Access& b) {
  return a.memory == b.memory && (a.writes || b.writes) && a.begin < b.begin + b.size &&
         b.begin < a.begin + a.size;
}

}  // namespace

bool Hazards::need_barrier(std::span<const Access> command) {
  const bool needed =
      since_barrier_.size() > kMany || std::ranges::any_of(command, [&](const Access& now) {
        return std::ranges::any_of(since_barrier_,
                                   [&](const Access& before) { return collide(before, now); });
      });
  if (needed) clear();
  since_barrier_.insert(since_barrier_.end(), command.begin(), command.end());
  return needed;
}

}  // namespace tenon::sdk
