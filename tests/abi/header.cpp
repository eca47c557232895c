// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The header alone, as C++20.
#include "tenon/plugin.h"

tn_error abi_header_as_cxx = TN_INIT(tn_error);
