// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parallel loop over as many threads as there are cores, for compilation.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "core/support/process.hpp"

namespace tenon {

/// Calls action(0) to action(count - 1) on several threads. Rethrows the first error.
template <class F>
void parallel_for(size_t count, F&& action) {
  const size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) action(i);
    return;
  }
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> errors(count);
  std::atomic<bool> failed{false};
  const ForkHold hold;
  const auto work = [&] {
    const WithinForkHold within;
    for (size_t i = next++; i < count && !failed; i = next++) {
      try {
        action(i);
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    try {
      for (size_t t = 1; t < threads; ++t) pool.emplace_back(work);
    } catch (
        const std::system_error&) {  // no more threads: the ones started so far do all the work
    }
    work();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace tenon
