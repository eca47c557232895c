// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/float_control.hpp"

#include <fmt/format.h>

#include <cfenv>

#include "core/plugin/process_state.hpp"

namespace tenon::conformance::judge {

FloatControl::FloatControl() : rounding_(std::fegetround()), control_(float_control()) {}

std::string FloatControl::restore() const {
  const int rounding = std::fegetround();
  const uint64_t control = float_control();
  if (rounding == rounding_ && control == control_) return {};
  std::fesetround(rounding_);
  set_float_control(control_);
  return fmt::format(
      "the floating-point control (rounding, traps, subnormals) of the calling thread is left "
      "changed (rule 39): expected {:#x} and {:#x}, got {:#x} and {:#x}",
      rounding_, control_, rounding, control);
}

}  // namespace tenon::conformance::judge
