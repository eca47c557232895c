// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lavapipe of Mesa 22.3.6 and 25.0.7 (26.2.6 is right): a choice between -1 and +0 is -0 where it
// should be +0, though the module asks for SignedZeroInfNanPreserve and the device has it.
//   VK_DRIVER_FILES=<lvp_icd>.json ./run_compute lavapipe_choice_of_zero.comp
// Expected: 00000000. Vulkan, "Precision and Operation of SPIR-V Instructions": OpSelect, OpPhi and
// OpStore must respect that execution mode. SwiftShader and Mesa 26.2.6: as expected.
// Seen: 80000000. NIR takes c ? -1 : 0 for -float(c).
//! buffer 0 = 3
//! print 1
#version 450
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[0] = floatBitsToUint(x[0] == 4u ? -1.0 : 0.0); }
