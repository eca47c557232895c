// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/hold_signals.hpp"

#include <cerrno>

namespace tenon {

HoldSignals::HoldSignals() {
  sigemptyset(&held_);
  sigaddset(&held_, SIGPIPE);
  sigaddset(&held_, SIGXFSZ);
  sigset_t pending;
  sigpending(&pending);
  // A signal that was already pending stays pending.
  for (const int one : {SIGPIPE, SIGXFSZ})
    if (sigismember(&pending, one)) sigdelset(&held_, one);
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HoldSignals::~HoldSignals() {
  const timespec now = {0, 0};
  const int error = errno;
  while (sigtimedwait(&held_, nullptr, &now) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace tenon
