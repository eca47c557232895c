// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes beyond 2 GiB and 4 GiB of one slab, and of a smaller one beyond 256 and 512 MiB: filled,
// copied and written by launches.
#pragma once

#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi {

/// False where there is no room for it; throws a Finding.
bool try_huge_slab(const OpenDevice& device);
/// The same of a slab that smaller devices have room for.
bool try_half_gib_slab(const OpenDevice& device);

}  // namespace tenon::conformance::abi
