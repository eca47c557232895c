// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Support honesty at the boundary itself: a program of one op, handed to the plugin whether it
// claims the op or not. The core would never send one that is not claimed; a stranger's core might.
#pragma once

#include "conformance/case.hpp"
#include "core/runtime/device.hpp"

namespace tenon::conformance {

/// PASS if a claimed op compiles, and one that is not claimed is refused with an error status (or
/// compiles all the same).
Outcome offer_op(Device& device, const Node& op, bool claimed);

}  // namespace tenon::conformance
