// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libcuda, opened at run time. Nothing of a CUDA toolkit is needed to build: the functions are
// declared here, from "CUDA Driver API Reference Manual".
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "sdk/helpers/shared_library.hpp"
#include "sdk/stream/api.hpp"
#include "sdk/stream/backend.hpp"

namespace tenon::cuda {

struct Context;
struct MemoryPool;

/// Who may reach the memory of a pool: CUmemAccessDesc.
struct MemoryAccess {
  int location_type;  ///< CU_MEM_LOCATION_TYPE_DEVICE
  int location;       ///< device
  int flags;          ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

/// What is CUDA's alone.
struct DriverFunctions {
  int (*init)(unsigned flags);
  int (*driver_version)(int* out);
  int (*device_count)(int* out);
  int (*device_name)(char* out, int capacity, int device);
  int (*device_uuid)(unsigned char* out, int device);
  int (*device_bus_id)(char* out, int capacity, int device);
  int (*device_memory)(size_t* out, int device);
  int (*device_attribute)(int* out, int attribute, int device);
  int (*context_retain)(Context** out, int device);
  int (*context_release)(int device);
  int (*context_set)(Context*);
  int (*can_access_peer)(int* out, int device, int peer);
  int (*enable_peer)(Context*, unsigned flags);
  int (*default_pool)(MemoryPool** out, int device);                              ///< may be null
  int (*pool_set_access)(MemoryPool*, const MemoryAccess* access, size_t count);  ///< may be null
  int (*copy)(uint64_t to, uint64_t from, size_t size, sdk::ApiStream*);
  int (*error_name)(int, const char** out);
  int (*error_text)(int, const char** out);
};

class Driver : public sdk::StreamVendor {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  Driver();
  std::vector<sdk::StreamDeviceFacts> devices() const;

  int retain(uint32_t device) override;
  void release(uint32_t device) override;
  int activate(uint32_t device) override;
  int copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) override;
  bool has_memory_pools(uint32_t device) const override;
  bool enable_peer(uint32_t device, uint32_t peer) override;
  std::string describe(int code) const override;

 private:
  int attribute(int attribute, int device) const;
  void check(int code, const char* what) const;

  sdk::SharedLibrary library_;
  DriverFunctions cuda_ = {};
  uint32_t count_ = 0;
  std::unique_ptr<std::atomic<Context*>[]> contexts_;  ///< by device
};

}  // namespace tenon::cuda
