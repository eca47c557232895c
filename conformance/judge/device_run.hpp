// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a case's graph on the device: inputs up, launches, outputs down, and what became of
// the memory around.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"
#include "core/runtime/context.hpp"

namespace tenon::conformance {

/// Told where a run is: what a watchdog must know.
struct Progress {
  std::function<void()> launched;   ///< compiled, and about to be submitted
  std::function<void()> compiling;  ///< once more, after a launch; may be empty

  template <std::invocable F>
  Progress(F on_launched, std::function<void()> on_compiling = {})
      : launched(std::move(on_launched)), compiling(std::move(on_compiling)) {}
  void compile() const { compiling ? compiling() : launched(); }
};

struct RunSettings {
  uint8_t poison = 0xA5;
  /// A plan made apart; null: the context's own.
  const SchedulePlan* plan = nullptr;
  /// Inputs of equal bytes share one buffer.
  bool share_inputs = false;
};

struct DeviceRun {
  std::vector<Array> outputs;
  std::string guards;   ///< what check_guards said
  std::string changed;  ///< an input that the run wrote to
};

/// Throws what the runtime throws.
DeviceRun run_on_device(Context& context, const Case& test, const RunSettings& settings,
                        const Progress& progress);

/// A hash of dtypes, shapes and every bit of the outputs; never 0.
uint64_t digest_of(const std::vector<Array>& outputs);

}  // namespace tenon::conformance
