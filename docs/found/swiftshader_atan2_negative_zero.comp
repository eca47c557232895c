// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SwiftShader of chromium 156.0.8078.108 (Debian 12), "SwiftShader Device (Subzero)": atan(y, x)
// takes the sign of x the wrong way round where y is -0.
//   VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json ./run_compute swiftshader_atan2_negative_zero.comp
// Expected: 0 0 pi pi, of any sign: GLSL 4.60, 8.1, atan(y, x): "the signs of x and y are used to
// determine what quadrant the angle is in", so x > 0 is an angle of 0 and x < 0 one of pi.
// Seen: pi 0 0 pi. lavapipe of Mesa 22.3, 25.0 and 26.2: 0 0 -pi pi.
//! buffer 0 = 0 0 0 0
//! buffer 1 = 0x80000000 1.0f  0 1.0f  0x80000000 -1.0f  0 -1.0f
//! print 4
#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer A { float r[]; };
layout(std430, binding = 1) readonly buffer B { vec2 yx[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  r[i] = atan(yx[i].x, yx[i].y);
}
