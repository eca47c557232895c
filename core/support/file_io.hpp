// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files, as applications have them, and names for new ones.
#pragma once

#include <string>

#include "tenon/file_io.hpp"

namespace tenon {

/// 32 random hexadecimal digits, unpredictable for others.
std::string random_name();

}  // namespace tenon
