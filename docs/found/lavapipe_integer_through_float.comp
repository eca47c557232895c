// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6, 25.0.7 and 26.2.6: an integer that was converted to float and back is
// the integer, as if the float had held all of its bits.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_integer_through_float.comp
// Expected: 134217728 33333332 -16777216. Vulkan, "Precision and Operation of SPIR-V Instructions":
// conversions are correctly rounded, so one of the two nearest floats; none of these integers is one.
// SwiftShader: as expected.
// Seen: 134217736 33333333 -16777217
//! buffer 0 = 134217736 33333333 -16777217
//! print 3
#version 450
layout(local_size_x = 3) in;
layout(std430, binding = 0) buffer B { int x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  precise float f = float(x[i]);
  x[i] = int(f);
}
