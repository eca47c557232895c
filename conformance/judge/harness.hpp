// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs cases on one device of one plugin, in this process, and judges them. Only a worker has one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "conformance/cases/case.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/judge/compare.hpp"
#include "conformance/judge/device_run.hpp"
#include "conformance/judge/drawn_oracles.hpp"
#include "core/interval/interval.hpp"
#include "core/runtime/runtime.hpp"

namespace tenon::conformance::judge {

class Harness {
 public:
  /// Throws what the Runtime throws.
  explicit Harness(const Target& target);

  std::string device_id() const;
  std::string device_name() const;
  std::string plugin_path() const;
  /// "strict, flush to zero of outputs, deterministic": what the plugin declares about its numbers.
  std::string declaration() const;
  /// What the plugin declares, as one JSON object.
  std::string properties() const;
  bool deterministic() const { return capabilities_.deterministic; }
  bool async() const { return capabilities_.async; }
  const Profile& profile() const { return profile_; }
  Builder& builder() { return runtime_->builder(); }

  /// Never throws.
  Outcome run(const Case& test, const Expectation* expectation, const Progress& progress);

 private:
  SchedulePlanRef transformed(const Case& test, std::string& transforms);
  std::optional<Finding> compare_runs(const Passed& runs, const Comparison& comparison,
                                      const DeviceRun& first, const DeviceRun& second);
  std::string or_too_early() const;
  std::string likely_cause(const Passed& runs, const DeviceRun& first,
                           const DeviceRun& second) const;
  void judge(const Case& test, const Expectation& expectation, const Progress& progress,
             Outcome& outcome);

  struct Transformed {
    std::vector<NodeRef> outputs, params;
    std::optional<uint64_t> seed;
    std::vector<std::string> written;
    DeviceSizes sizes;
    std::string applied;
    SchedulePlanRef plan;
  };

  std::unique_ptr<Runtime> runtime_;
  Target target_;
  Capabilities capabilities_;
  Profile profile_;
  DrawnOracles drawn_;
  Transformed latest_;
};

}  // namespace tenon::conformance::judge
