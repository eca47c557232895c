// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6 (25.0.7 and 26.2.6 are right): an integer that is extended to 64 bits compares
// wrongly with a constant.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_compare_extended.comp
// Expected: 1 1 1 0 0 0. Seen: 0 0 0 0 0 0
//! buffer 0 = 0x80000000 -1 1 2 3 0x7fffffff
//! print 6
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 6) in;
layout(std430, binding = 0) buffer B { int x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  x[i] = int64_t(x[i]) < 2l ? 1 : 0;
}
