// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 4: runs API sequences and named checks of the ABI's rules on a plugin, in this process.
#pragma once

#include <functional>

#include "conformance/abi/subject.hpp"
#include "conformance/cases/case.hpp"

namespace tenon::conformance::abi {

class ApiHarness {
 public:
  /// Loads the plugin. Throws kEnvironment or kInvalid.
  explicit ApiHarness(const Target& target) : subject_(target) {}

  /// Runs `test.sequence`. `alive` is called now and then: each time the watchdog begins anew.
  /// Never throws. Kinds of FAIL: "mismatch", "order", "error", "support", "leak"; what the plugin
  /// leaves out, as it may, is UNSUPPORTED; a sequence of which nothing was possible is VACUOUS.
  Outcome run(const Case& test, const std::function<void()>& alive);

 private:
  Outcome run_case(const Case& test, const std::function<void()>& alive);
  Outcome run_steps(const Sequence& sequence, const std::function<void()>& alive);

  Subject subject_;
};

}  // namespace tenon::conformance::abi
