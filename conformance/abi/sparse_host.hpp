// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tn_host that has less than today's: one of before `log`, after whose end are pointers that
// nobody should follow, or one whose functions are null.
#pragma once

#include <string>
#include <string_view>

#include "tenon/plugin.h"

namespace tenon::conformance::abi {

/// "whole", which is counting_host(), "old" or "bare". Throws kInvalid for any other.
const tn_host& host_of(std::string_view form);
/// Of an old host, the function after its end that was called; "" if none was.
std::string called_beyond();

}  // namespace tenon::conformance::abi
