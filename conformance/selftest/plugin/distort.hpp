// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What variants do to the commands of a submission and to the arguments of a launch.
#pragma once

#include "conformance/selftest/plugin/code.hpp"
#include "conformance/selftest/plugin/variants.hpp"
#include "conformance/selftest/plugin/work_queue.hpp"

namespace tenon::planted {

/// When it is read, in the order of submissions. `job` is what `submission` says.
void distort(Variant variant, const sdk::Submission& submission, Job& job);

/// What a launch runs, and with what.
struct Launch {
  std::shared_ptr<const Code> code;
  std::vector<sdk::HostArgument> arguments;
  uint32_t grid[3] = {};
};

/// Launches of a device in the order in which they run.
class LaunchOrder {
 public:
  void distort(Variant variant, LaunchState& state, Launch& launch);

 private:
  std::mutex mutex_;
  Launch last_;
};

}  // namespace tenon::planted
