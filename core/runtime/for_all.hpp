// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that is done by as many threads as there are cores, as compiling is.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "core/support/process.hpp"

namespace tenon {

/// Calls action(0..count-1), on several threads if there is more than one; the first error wins.
template <class F>
void for_all(size_t count, F&& action) {
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
    } catch (const std::system_error&) {  // no more threads: those that are there do it all
    }
    work();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace tenon
