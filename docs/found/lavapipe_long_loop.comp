// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6 (25.0.7 and 26.2.6 are right): the loops of a thread end after 65,535
// iterations of all of them together, without a word.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_long_loop.comp
// Expected: 100000. Seen: 65535
//! buffer 0 = 100000 1
//! print 1
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() {
  uint sum = 0, count = x[0];
  for (uint i = 0; i < count; ++i) sum += x[1];
  x[0] = sum;
}
