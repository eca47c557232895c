// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrong rewrites of values (rewrites.cpp) and of loads and stores (forwarding.cpp), by the variant.
#pragma once

#include "conformance/selftest/plugin/code.hpp"

namespace tenon::planted {

void rewrite(Code& code);
void forward(Code& code);

}  // namespace tenon::planted
