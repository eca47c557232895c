// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/at_once.hpp"

#include <exception>
#include <latch>
#include <thread>
#include <vector>

namespace tenon::conformance::abi {

void at_once(int threads, const std::function<void(int thread)>& work) {
  std::vector<std::exception_ptr> thrown(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  std::latch begin(threads);
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      begin.arrive_and_wait();
      try {
        work(t);
      } catch (...) {
        thrown[static_cast<size_t>(t)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const auto& error : thrown)
    if (error) std::rethrow_exception(error);
}

}  // namespace tenon::conformance::abi
