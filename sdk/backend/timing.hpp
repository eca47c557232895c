// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension tenon/ext/timing.h as a class. Devices with a clock derive from it, and the backend
// returns `&timing_table()` for TN_TIMING_ID.
#pragma once

#include "sdk/backend/backend.hpp"
#include "tenon/ext/timing.h"

namespace tenon::sdk {

class TimedDevice {
 public:
  virtual ~TimedDevice() = default;
  /// Runs the commands and returns their device time in nanoseconds. There are no waits or signals.
  /// Throws TN_ERROR_UNSUPPORTED before anything runs if there is no clock.
  virtual uint64_t run_timed(const tn_submission& commands) = 0;
};

const tn_timing& timing_table();

}  // namespace tenon::sdk
