// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop tells of itself while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/export.hpp"

namespace tenon::train {

struct Report {
  int64_t step = 0;  ///< those that were made, those of earlier processes too
  int64_t steps = 0;
  double loss = 0;
  std::optional<double> validation;  ///< if it was computed after this step
  double seconds = 0;                ///< since this process began with its first step
  double rate = 0;                   ///< steps a second in this process
};

/// " 42% |########            | 420/1000, loss 0.1234, 85.2 steps/s, 0:07 left" in at most `width`
/// columns: the bar gets what is left, and is left out where that is too little.
TENON_API std::string progress_line(const Report& report, int width);

}  // namespace tenon::train
