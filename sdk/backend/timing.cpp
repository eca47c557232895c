// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the C call to a call of timing.hpp.
#include "sdk/backend/timing.hpp"

namespace tenon::sdk {
namespace {

int32_t run(tn_device* device, const tn_submission* submission, uint64_t* out_nanoseconds,
            tn_error* error) {
  return guarded(error, [&] {
    require(device && submission && out_nanoseconds,
            "timing: expected a device, a submission and out_nanoseconds, got null");
    const Submission commands(submission);
    commands.check();
    require(commands.wait_count() == 0 && commands.signal_count() == 0,
            "timing: expected a submission without waits and signals");
    auto* timed = dynamic_cast<TimedDevice*>(device_of(device));
    if (!timed) throw Failure(TN_ERROR_UNSUPPORTED, "timing: the device has no clock");
    *out_nanoseconds = timed->run_timed(*submission);
  });
}

}  // namespace

const tn_timing& timing_table() {
  static const tn_timing table = [] {
    tn_timing timing = TN_INIT(tn_timing);
    timing.run = run;
    return timing;
  }();
  return table;
}

}  // namespace tenon::sdk
