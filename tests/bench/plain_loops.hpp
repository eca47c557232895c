// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one would write by hand in C, for the compiler to vectorise: the peer where no library is.
#pragma once

#include <cstddef>

namespace tenon::bench {

void plain_softmax(float* y, const float* x, size_t rows, size_t columns);
/// y = max(x * a + b, 0) * c + d, as five separate roundings of one pass.
void plain_chain(float* y, const float* x, size_t count, float a, float b, float c, float d);

}  // namespace tenon::bench
