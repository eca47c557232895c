// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For drivers that change signal handlers when they start (abi.md 39).
#pragma once

namespace tenon::sdk {

/// When the last guard ends, restores signal handlers and the blocked signals of the thread as they
/// were when the first began, except signals that abi.md leaves to drivers. Guards nest, on any
/// threads. Changes by others meanwhile are undone too, so use it only while a driver starts.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

}  // namespace tenon::sdk
