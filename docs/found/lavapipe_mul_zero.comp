// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6 (25.0.7 and 26.2.6 are right): x * 0.0 is 0 for infinities and NaN, though
// the module asks for SignedZeroInfNanPreserve, which the device has, and the product is NoContraction.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_mul_zero.comp
// Expected: NaN twice (7fc00000 or another): OpFMul must respect that execution mode (Vulkan,
// "Precision and Operation of SPIR-V Instructions"). SwiftShader, Mesa 25.0.7 and 26.2.6: as expected.
// Seen: 00000000 00000000
//! buffer 0 = 0x7f800000 0x7fc00000
//! print 2
#version 450
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer B { float x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  precise float product = x[i] * 0.0;
  x[i] = product;
}
