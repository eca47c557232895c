// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libOpenCL.so, opened at run time: its functions, its devices, handles that release themselves.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sdk/backend/shared_library.hpp"
#include "sdk/backend/signal_guard.hpp"
#include "sdk/support/failure.hpp"

namespace opencl {
namespace sdk = tenon::sdk;

// clang-format off
#define OPENCL_FUNCTIONS(X)                                                               \
  X(GetPlatformIDs) X(GetDeviceIDs) X(GetDeviceInfo) X(CreateContext) X(ReleaseContext)   \
  X(CreateCommandQueue) X(ReleaseCommandQueue) X(CreateBuffer) X(ReleaseMemObject)        \
  X(CreateProgramWithSource) X(CreateProgramWithBinary) X(BuildProgram) X(ReleaseProgram) \
  X(GetProgramBuildInfo) X(GetProgramInfo) X(CreateKernel) X(ReleaseKernel) X(Finish)     \
  X(SetKernelArg) X(EnqueueNDRangeKernel) X(EnqueueCopyBuffer) X(EnqueueFillBuffer)       \
  X(EnqueueWriteBuffer) X(EnqueueMapBuffer) X(EnqueueUnmapMemObject) X(Flush)             \
  X(EnqueueMarkerWithWaitList) X(GetEventInfo) X(WaitForEvents) X(ReleaseEvent)
// clang-format on

struct Functions {
#define OPENCL_FIELD(name) decltype(&::cl##name) name = nullptr;
  OPENCL_FUNCTIONS(OPENCL_FIELD)
#undef OPENCL_FIELD
};

/// Filled by devices().
inline Functions cl;

/// Throws Failure with the driver's code.
inline void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  tn_status status = TN_ERROR_INTERNAL;
  if (code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES ||
      code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE)
    status = TN_ERROR_OUT_OF_MEMORY;
  throw sdk::Failure(status, fmt::format("{}: OpenCL's error {}", what, code));
}

template <class T>
T info(cl_device_id device, cl_device_info key) {
  T value{};
  check(cl.GetDeviceInfo(device, key, sizeof value, &value, nullptr), "clGetDeviceInfo");
  return value;
}
inline std::string text(cl_device_id device, cl_device_info key) {
  char value[512] = {};
  check(cl.GetDeviceInfo(device, key, sizeof value - 1, value, nullptr), "clGetDeviceInfo");
  return value;
}

template <auto Functions::*kRelease>
struct Release {
  template <class Handle>
  void operator()(Handle* handle) const {
    (cl.*kRelease)(handle);
  }
};
using Context = std::unique_ptr<_cl_context, Release<&Functions::ReleaseContext>>;
using Queue = std::unique_ptr<_cl_command_queue, Release<&Functions::ReleaseCommandQueue>>;
using Buffer = std::unique_ptr<_cl_mem, Release<&Functions::ReleaseMemObject>>;
using Code = std::unique_ptr<_cl_program, Release<&Functions::ReleaseProgram>>;
using Kernel = std::unique_ptr<_cl_kernel, Release<&Functions::ReleaseKernel>>;
using Event = std::unique_ptr<_cl_event, Release<&Functions::ReleaseEvent>>;

inline std::string find_devices(std::vector<cl_device_id>& out) {
  const std::string names[] = {"libOpenCL.so.1"};
  const sdk::SharedLibrary library(names);
  if (!library) return library.reason();
  const sdk::SymbolRow rows[] = {
#define OPENCL_ROW(name) {"cl" #name, &cl.name},
      OPENCL_FUNCTIONS(OPENCL_ROW)
#undef OPENCL_ROW
  };
  if (std::string missing = sdk::load_symbols(library, rows); !missing.empty()) return missing;
  const sdk::SignalGuard guard;  // drivers start their compilers and threads here
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  cl.GetPlatformIDs(16, platforms, &platform_count);
  for (cl_uint p = 0; p < std::min(platform_count, 16u); ++p) {
    cl_device_id found[64];
    cl_uint count = 0;
    if (cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, found, &count)) continue;
    for (cl_uint d = 0; d < std::min(count, 64u); ++d)
      if (info<cl_bool>(found[d], CL_DEVICE_AVAILABLE) &&
          info<cl_device_fp_config>(found[d], CL_DEVICE_DOUBLE_FP_CONFIG))
        out.push_back(found[d]);
  }
  return out.empty() ? "no OpenCL platform has a device that computes in double" : "";
}

/// Devices of all platforms. Empty, with a sentence, where there is no driver, and in a child of a
/// process that used it: its threads are not there.
inline const std::vector<cl_device_id>& devices(std::string& reason) {
  static auto& found = *new std::vector<cl_device_id>;
  static const auto& why = *new std::string(find_devices(found));
  static const pid_t process = getpid();
  const bool is_child = process != getpid();
  reason = is_child ? "OpenCL was used before this process was forked" : why;
  if (is_child) found.clear();
  return found;
}

}  // namespace opencl
