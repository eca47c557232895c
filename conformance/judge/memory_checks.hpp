// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the checks of memory_cases.hpp on a backend that holds memory and computes nothing, in this
// process. Only a worker has one.
#pragma once

#include <memory>
#include <string>

#include "conformance/cases/outcome.hpp"
#include "conformance/cases/target.hpp"
#include "core/runtime/runtime.hpp"

namespace tenon::conformance::judge {

class MemoryHarness {
 public:
  /// Throws what the Runtime throws.
  explicit MemoryHarness(const Target& target);

  bool computes() const { return device().capabilities().compute; }
  std::string device_id() const { return device().id(); }
  std::string device_name() const { return device().info().name; }
  std::string plugin_path() const;
  /// What the plugin declares, as one JSON object.
  std::string properties() const;

  /// Writes a few bytes and reads them: a sentence on what is wrong, or "".
  std::string known_answer();
  /// Of memory_check_names(). Never throws.
  Outcome run(const std::string& check);

 private:
  Device& device() const { return runtime_->device(); }

  const Target target_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace tenon::conformance::judge
