// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling thread's rounding and floating-point control around calls of a plugin: what judges
// computes with them, so they are put back whatever the plugin did.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::conformance::judge {

class FloatControl {
 public:
  FloatControl();
  ~FloatControl() { restore(); }
  FloatControl(const FloatControl&) = delete;
  FloatControl& operator=(const FloatControl&) = delete;

  /// Back to what it was. A sentence if it was changed, or "".
  std::string restore() const;

 private:
  int rounding_;
  uint64_t control_;
};

}  // namespace tenon::conformance::judge
