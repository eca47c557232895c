// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of DLPack 1.x, as https://dmlc.github.io/dlpack/latest/c_api.html gives it. Internal
// to the library.
#pragma once

#include <cstdint>

namespace tenon::dlpack {

inline constexpr uint32_t kMajor = 1, kMinor = 1;
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

enum DeviceType : int32_t { kHost = 1, kCudaHost = 3, kRocmHost = 11 };
/// Of device types, by their code; empty for none.
inline constexpr const char* kDeviceNames[] = {
    "",       "cpu",    "cuda",    "cuda_host", "opencl",    "",        "",
    "vulkan", "metal",  "vpi",     "rocm",      "rocm_host", "ext_dev", "cuda_managed",
    "oneapi", "webgpu", "hexagon", "maia",      "trainium"};

enum TypeCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4m3fn = 10,
  kFloat8E5m2 = 12,
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  ///< in elements; null: row-major
  uint64_t byte_offset;
};

struct Managed {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(Managed* self);
  uint64_t flags;
  DlTensor tensor;
};

/// Of DLPack 0.x, which has no flags: whoever takes it may write.
struct Unversioned {
  DlTensor tensor;
  void* manager_ctx;
  void (*deleter)(Unversioned* self);
};
static_assert(sizeof(DlTensor) == 48 && sizeof(Managed) == 80 && sizeof(Unversioned) == 64);

}  // namespace tenon::dlpack
