// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a case's graph on the device: inputs up, launches, outputs down, and what became of
// the memory around.
#pragma once

#include <string>
#include <vector>

#include "conformance/cases/case.hpp"
#include "conformance/judge/progress.hpp"
#include "core/runtime/runtime.hpp"

namespace tenon::conformance::judge {

/// What outputs hold before a run, and before the next.
inline constexpr uint8_t kPoison = 0xA5, kOtherPoison = 0x5A;

struct RunSettings {
  uint8_t poison = kPoison;
  /// A plan made apart; null: the context's own.
  const SchedulePlan* plan = nullptr;
  /// Inputs of equal bytes share one buffer.
  bool share_inputs = false;
  bool is_first = true;  ///< of its kernels
  /// Results may be written over inputs, by a plan of its own; not beside `plan`.
  bool donate = false;
};

struct DeviceRun {
  std::vector<Array> outputs;
  std::string guards;   ///< what check_guards said
  std::string changed;  ///< an input that the run wrote to
};

/// Throws what the runtime throws.
DeviceRun run_on_device(Runtime& runtime, const Case& test, const RunSettings& settings,
                        const Progress& progress);

/// A hash of dtypes, shapes and every bit of the outputs; never 0.
uint64_t digest_of(const std::vector<Array>& outputs);

}  // namespace tenon::conformance::judge
