// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/tape.hpp"

#include <memory>

#include "tenon/gradient.hpp"

namespace tenon {
namespace {

/// One tape for tapes within each other.
struct ThreadTape {
  int depth = 0;
  std::unique_ptr<Tape> tape;
};

ThreadTape& of_thread() {
  thread_local ThreadTape state;
  return state;
}

}  // namespace

Tape* Tape::current() { return of_thread().tape.get(); }

GradientTape::GradientTape() : thread_(&of_thread()) {
  ThreadTape& state = of_thread();
  if (state.depth++ == 0) state.tape = std::make_unique<Tape>();
}

GradientTape::~GradientTape() {
  ThreadTape& state = of_thread();
  if (thread_ != &state) return;  // another thread's, which may be at work on it
  if (--state.depth == 0) state.tape.reset();
}

}  // namespace tenon
