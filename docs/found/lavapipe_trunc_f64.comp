// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6, 25.0.7 and 26.2.6 on x86-64 without AVX-512: trunc() of a double beyond
// 2^31 is the double itself, with its fraction.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_trunc_f64.comp
// Input: 2147483648.5 -2147483648.5 -0.5 -3.25, as pairs of low and high words.
// Expected: 00000000 41e00000  00000000 c1e00000  00000000 80000000  00000000 c0080000, so 2147483648
// -2147483648 -0 -3. GLSL 4.60, 8.3, trunc: "a value equal to the nearest integer to x whose absolute
// value is not larger than the absolute value of x". (The sign of the zero is left open here.)
// Seen:     00100000 41e00000  00100000 c1e00000  00000000 00000000  00000000 c0080000
// (x = v[i] of one place for a whole workgroup is right in 26.2.6: the value is then no vector.)
//! buffer 0 = 0x00100000 0x41e00000 0x00100000 0xc1e00000 0 0xbfe00000 0 0xc00a0000
//! print 8
#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer B { double x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  x[i] = trunc(x[i]);
}
