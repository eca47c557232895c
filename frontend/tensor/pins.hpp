// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the contexts that a thread computes with are made of stays while it does, whoever destroys
// the application's Context meanwhile. Internal to the library.
#pragma once

#include "frontend/tensor/state.hpp"

namespace tenon {

/// Keeps what a context is made of for this thread: the last few do so. False if it is gone.
bool pin(const ContextLife& life);
/// It is no more kept for this thread.
void unpin(const Context::Impl& impl);

}  // namespace tenon
