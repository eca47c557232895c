// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/at_end.hpp"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace tenon {
namespace {

/// For the list of living contexts. Trivially destructible, as exit handlers use it late.
constinit std::mutex living_mutex;
constinit AtEnd* living = nullptr;
constinit bool is_registered = false;

}  // namespace

AtEnd::AtEnd(std::function<void()> say) : say_(std::move(say)) {
  const ForkHold hold;
  const std::lock_guard lock(living_mutex);
  if (!is_registered) is_registered = std::atexit(say_all) == 0;
  next_ = living;
  living = this;
}

AtEnd::~AtEnd() {
  const ForkHold hold;
  {
    const std::lock_guard lock(living_mutex);
    AtEnd** at = &living;
    while (*at && *at != this) at = &(*at)->next_;
    if (!*at) return;  // said already
    *at = next_;
  }
  say();
}

void AtEnd::say_all() {
  const ForkHold hold;
  const std::lock_guard lock(living_mutex);
  for (; living; living = living->next_) living->say();
}

void AtEnd::say() const {
  if (is_native(made_in_)) say_();  // the parent says its own
}

}  // namespace tenon
