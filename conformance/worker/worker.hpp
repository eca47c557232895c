// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child's side: loads the plugin, runs the cases that the parent asks for, and reports each.
#pragma once

#include <memory>

#include "conformance/cases/case.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/worker/channel.hpp"

namespace tenon::conformance::worker {

/// What a process does with its commands; false if it is of no more use afterwards.
class Worker {
 public:
  explicit Worker(Channel& channel) : channel_(channel) {}
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  virtual DeviceFacts facts() const = 0;
  virtual Probed probe() = 0;
  virtual bool run_range(uint64_t seed, uint64_t begin, uint64_t end) = 0;
  virtual bool run_text(const std::string& text) = 0;

 protected:
  void announce(const Case& test, uint64_t attempt);

  Channel& channel_;
};

/// They throw what their harness throws.
std::unique_ptr<Worker> make_run_worker(const Target& target, Channel& channel);
std::unique_ptr<Worker> make_compile_worker(const Target& target, Channel& channel);
/// Null if the device computes, or is not there.
std::unique_ptr<Worker> make_memory_worker(const Target& target, Channel& channel);

/// Serves commands until the parent closes the pipe. Returns the exit code.
int serve(const Target& target);

}  // namespace tenon::conformance::worker
