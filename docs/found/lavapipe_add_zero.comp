// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6 and 25.0.7 (26.2.6 is right): x + 0.0 is x for x = -0, though the module
// asks for SignedZeroInfNanPreserve, which the device has, and the sum is NoContraction.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_add_zero.comp
// Expected: 00000000: -0 + 0 is +0 (IEEE 754, 6.3), and OpFAdd must respect that execution mode (Vulkan,
// "Precision and Operation of SPIR-V Instructions"). SwiftShader and Mesa 26.2.6: as expected.
// Seen: 80000000
//! buffer 0 = 0x80000000
//! print 1
#version 450
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { float x[]; };
void main() {
  precise float sum = x[0] + 0.0;
  x[0] = sum;
}
