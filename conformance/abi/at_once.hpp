// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same work in several threads that begin together; what one of them throws comes out.
#pragma once

#include <functional>

namespace tenon::conformance::abi {

void at_once(int threads, const std::function<void(int thread)>& work);

}  // namespace tenon::conformance::abi
