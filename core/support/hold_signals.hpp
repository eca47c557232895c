// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks signals of failed writes: SIGPIPE for a closed pipe and SIGXFSZ beyond RLIMIT_FSIZE. Both
// would end the process.
#pragma once

#include <signal.h>

namespace tenon {

/// Blocks them for this thread and scope: the call returns EPIPE or EFBIG instead.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;

 private:
  sigset_t held_, before_;
};

}  // namespace tenon
