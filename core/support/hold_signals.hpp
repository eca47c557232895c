// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing to a pipe that nobody reads raises SIGPIPE, beyond RLIMIT_FSIZE SIGXFSZ; both would end
// the process.
#pragma once

#include <signal.h>

namespace tenon {

/// Held back for this thread and this scope: the call answers EPIPE or EFBIG instead.
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
