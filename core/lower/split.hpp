// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For devices without 64-bit integers (Capabilities::splits_wide).
#pragma once

#include "core/ir/capabilities.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// The same program without i64 and u64: each value is two u32, the low word and the high one, and
/// so it lies in memory, little-endian, where the host and other devices find the 64-bit integer. A
/// buffer of n elements becomes one of 2n words. Throws kInternal for what legalisation refuses.
sdk::Program split_wide(const sdk::Program& program, const Capabilities& capabilities);

}  // namespace tenon
