// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The headers alone, as C++20.
#include "tenon/ext/files.h"
#include "tenon/ext/graphs.h"
#include "tenon/ext/peers.h"
#include "tenon/ext/timing.h"
#include "tenon/plugin.h"

tn_error abi_header_as_cxx = TN_INIT(tn_error);
