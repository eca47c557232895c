// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rule 39 around every call: a table whose functions look at the process when they have returned.
#pragma once

#include <string>

#include "tenon/plugin.h"

namespace tenon::conformance::abi {

/// The plugin's functions, each called by one that takes note of what it left changed. What the
/// process is like at the first of these calls is as it must stay.
tn_plugin watched(const tn_plugin& table);

/// What the first call since the last question left changed, as "after timeline_wait: the locale:
/// expected C, got C.UTF-8"; or what was changed since then, by whatever thread; "" for nothing.
/// The process is put back as far as it can be.
std::string take_process_change();

/// What the process is like now is as it must stay: for checks that change it themselves.
void accept_process();

/// From now on standard output is a file of this process's own, so that the watch sees what is
/// written to it; it goes on to standard error. For workers, whose output nobody else needs.
void catch_standard_output();

/// From now on the rounding and the floating-point control of the calling thread are put back after
/// each call, which is told of all the same: what judges computes there.
void put_back_floats();

}  // namespace tenon::conformance::abi
