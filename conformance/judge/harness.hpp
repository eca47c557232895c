// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs cases on one device of one plugin, in this process, and judges them. Only a worker has one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "conformance/cases/case.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/judge/compare.hpp"
#include "core/reference/interval.hpp"
#include "core/runtime/context.hpp"

namespace tenon::conformance {

class Harness {
 public:
  /// Throws what the Context throws.
  explicit Harness(const Target& target);

  std::string device_id() const;
  std::string device_name() const;
  std::string plugin_path() const;
  /// "strict, flush to zero of outputs, deterministic": what the plugin declares about its numbers.
  std::string declaration() const;
  const Profile& profile() const { return profile_; }
  Builder& builder() { return context_->builder(); }

  /// `on_launched` is called when the work is compiled and submitted. Never throws.
  Outcome run(const Case& test, const Expectation* expectation,
              const std::function<void()>& on_launched);

 private:
  struct Run {
    std::vector<Array> outputs;
    std::string guards;   ///< what check_guards said
    std::string changed;  ///< an input that the run wrote to
  };
  Run run_once(uint8_t poison, const Case& test, const std::function<void()>& on_launched);
  Outcome judge(const Case& test, const Expectation& expectation,
                const std::function<void()>& on_launched);

  std::unique_ptr<Context> context_;
  std::optional<std::filesystem::path> plugin_;
  Capabilities capabilities_;
  Profile profile_;
};

}  // namespace tenon::conformance
