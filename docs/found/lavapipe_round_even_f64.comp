// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6, 25.0.7 and 26.2.6 on x86-64 without AVX-512: roundEven() of a double takes
// halves toward zero, and gives doubles beyond 2^31 back with their fraction.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_round_even_f64.comp
// Input: 1.5 -1.5 3.5 2147483648.75, as pairs of low and high words.
// Expected: 0 40000000  0 c0000000  0 40100000  00200000 41e00000, so 2 -2 4 2147483649. GLSL 4.60, 8.3,
// roundEven: "a fractional part of 0.5 will round toward the nearest even integer".
// Seen:     0 3ff00000  0 bff00000  0 40080000  00180000 41e00000, so 1 -1 3 2147483648.75
//! buffer 0 = 0 0x3ff80000 0 0xbff80000 0 0x400c0000 0x00180000 0x41e00000
//! print 8
#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer B { double x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  x[i] = roundEven(x[i]);
}
