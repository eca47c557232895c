// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the last workgroups of a large grid run, without an element for each.
#pragma once

#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi::checks {

/// A launch of so many workgroups, of which the last four write their number to `memory`, of 32
/// bytes. Throws a Finding; false if the device does not take the program.
bool run_last_groups(const OpenDevice& device, tn_memory* memory, const uint32_t (&grid)[3]);

}  // namespace tenon::conformance::abi::checks
