// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C11 as a dialect: what tests compile with the system compiler.
#pragma once

#include "sdk/render/dialect.hpp"

namespace tenon::sdk {

/// One thread of the launch:
///   void kernel_NAME(void* const* arguments, const uint32_t* thread)
/// arguments: for each BUFFER its first element, for each SCALAR a pointer to its value.
/// thread: grid x y z, block x y z. Workgroups of several threads may neither share memory nor meet
/// at barriers. Compile with -ffp-contract=off -fwrapv.
const Dialect& c_dialect();

/// The helper functions, in C.
std::string_view c_prelude();

}  // namespace tenon::sdk
