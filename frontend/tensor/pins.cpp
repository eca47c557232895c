// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/pins.hpp"

#include <algorithm>
#include <array>

namespace tenon {
namespace {

constexpr size_t kMostPins = 4;  ///< a call has tensors of one context, seldom of two

/// Of a thread that ends: its static objects may compute later still, alone.
constinit thread_local bool pins_are_gone = false;

struct Pins {
  Pins() = default;
  ~Pins() { pins_are_gone = true; }
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;
  std::array<std::shared_ptr<Context::Impl>, kMostPins> held;
  size_t next = 0;
};

Pins& pins_of_thread() {
  thread_local Pins pins;
  return pins;
}

}  // namespace

bool pin(const ContextLife& life) {
  std::shared_ptr<Context::Impl> impl = life.impl.lock();
  if (!impl || pins_are_gone) return impl != nullptr;
  Pins& pins = pins_of_thread();
  if (std::ranges::find(pins.held, impl) != pins.held.end()) return true;
  pins.held[pins.next].swap(impl);  // the oldest goes at the end, and with it what nobody else has
  pins.next = (pins.next + 1) % kMostPins;
  return true;
}

void unpin(const Context::Impl& impl) {
  if (pins_are_gone) return;
  for (std::shared_ptr<Context::Impl>& held : pins_of_thread().held)
    if (held.get() == &impl) held.reset();
}

}  // namespace tenon
