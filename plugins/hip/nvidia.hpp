// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP's mapping to CUDA, hip/nvidia_detail of HIP 5.2, made to compile with CUDA 12 and 13, which
// removed functions and fields that its inline functions name. These are not used, so the stand-ins
// below are never called.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace tenon::hip::gone {
struct DeviceProperties : cudaDeviceProp {
#if CUDART_VERSION >= 13000
  int clockRate, computeMode, memoryClockRate, cooperativeMultiDeviceLaunch;
  int kernelExecTimeoutEnabled;
#endif
};
template <class... Arguments>
cudaError_t function(Arguments&&...) {
  return cudaErrorNotSupported;
}
}  // namespace tenon::hip::gone

#if CUDART_VERSION >= 12000
#define cudaBindTexture tenon::hip::gone::function
#define cudaBindTexture2D tenon::hip::gone::function
#define cudaUnbindTexture tenon::hip::gone::function
#define cudaGetTextureAlignmentOffset tenon::hip::gone::function
#endif
#if CUDART_VERSION >= 13000
#define cudaDeviceProp tenon::hip::gone::DeviceProperties
#define cudaLaunchCooperativeKernelMultiDevice tenon::hip::gone::function
#define cudaMemAdvise tenon::hip::gone::function
#define cudaMemPrefetchAsync tenon::hip::gone::function
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrCooperativeLaunch
#undef cuCtxCreate
#define cuCtxCreate(out, flags, device) cuCtxCreate_v4(out, nullptr, flags, device)
#endif

#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1  // their templates would make the names ambiguous
#include <hip/hip_runtime_api.h>
