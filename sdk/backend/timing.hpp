// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension tenon/ext/timing.h as a class: devices that have a clock derive from it too, and
// the backend answers `&timing_table()` for TN_TIMING_ID.
#pragma once

#include "sdk/backend/backend.hpp"
#include "tenon/ext/timing.h"

namespace tenon::sdk {

class TimedDevice {
 public:
  virtual ~TimedDevice() = default;
  /// Nanoseconds of the device that the commands took, which have ended then. There are no waits
  /// and no signals. Throws TN_ERROR_UNSUPPORTED, before anything runs, where there is no clock.
  virtual uint64_t run_timed(const tn_submission& commands) = 0;
};

const tn_timing& timing_table();

}  // namespace tenon::sdk
