// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace tenon::conformance::abi {

/// How many of abi_checks(), the first, take milliseconds. Each of the others takes up to a second
/// or so, as it is about large numbers.
size_t quick_check_count();

}  // namespace tenon::conformance::abi
