// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SwiftShader of chromium 156.0.8078.108 (Debian 12), "SwiftShader Device (Subzero)": packHalf2x16
// makes NaN of numbers that overflow and of infinities, and of what overflows in the first
// component it spills into the second.
//   VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json ./run_compute swiftshader_pack_half_overflow.comp
// Expected: 3c007bff 3c007c00 3c007c00 3c007c00 3c007c00 3c00fc00 (or the largest number, 7bff, in
// place of infinity, as Vulkan leaves the rounding open): GLSL 4.60, 8.4, packHalf2x16, and SPIR-V's
// PackHalf2x16 convert each component to a 16-bit float; a number is never NaN, and the upper half
// is that of 1.0, 3c00. So lavapipe of Mesa 22.3, 25.0 and 26.2.
// Seen: 3c007bff 3c007c00 3c007c2d 3c00ffff 3c027fff 3c02ffff
//! buffer 0 = 65504.0f 65536.0f 68442.0f 131072.0f 0x7f800000 0xff800000
//! print 6
#version 450
layout(local_size_x = 6) in;
layout(std430, binding = 0) buffer A { float x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  x[i] = uintBitsToFloat(packHalf2x16(vec2(x[i], 1.0)));
}
