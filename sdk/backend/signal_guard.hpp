// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For drivers that change what signals do when they start (abi.md 39).
#pragma once

namespace tenon::sdk {

/// What signals do, and which the calling thread blocks, is when the last guard ends as it was when
/// the first began; but for those that abi.md leaves to drivers. Guards nest, on any threads. What
/// others change meanwhile is undone too, so let it live no longer than the driver's start.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

}  // namespace tenon::sdk
