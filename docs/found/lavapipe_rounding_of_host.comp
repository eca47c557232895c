// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6: shaders round as the thread that opened the device does, though the
// module asks for RoundingModeRTE, which the device has (shaderRoundingModeRTEFloat32).
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_rounding_of_host.comp
// Expected: 3f800000 3f800000. Vulkan, "Precision and Operation of SPIR-V Instructions": OpFAdd is
// rounded to nearest even where that execution mode says so; nothing of the host's is asked.
// Seen: 3f800001 3f800000: 1 + 2^-30 is rounded upward. (SwiftShader does so, too, but has no such
// mode to ask for.)
//! rounding upward
//! buffer 0 = 1.0f 1.0f 0x30800000 0xb0800000
//! print 2
#version 450
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4467], 4462, 32);
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer B { float x[]; };
void main() {
  uint i = gl_LocalInvocationID.x;
  x[i] = x[i] + x[i + 2];
}
