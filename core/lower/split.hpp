// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits 64-bit integers for devices without them (Capabilities::splits_wide).
#pragma once

#include "core/ir/capabilities.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// The program without i64 and u64: each value is two u32, low and high. Memory is little-endian,
/// so the host and other devices see 64-bit integers. A buffer of n elements becomes one of 2n
/// words. Throws kInternal for what legalisation refuses.
sdk::Program split_wide(const sdk::Program& program, const Capabilities& capabilities);

}  // namespace tenon
