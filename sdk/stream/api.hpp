// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver functions that GPU backends use, in the model of CUDA: streams, events, modules,
// graphs. HIP has the same functions and parameters under other names, so a backend fills a
// StreamApi by symbol names, and implements differences in a StreamVendor (vendor.hpp).
//
// Handles are opaque here, device addresses are 64-bit integers and every function returns the
// driver's status, 0 for success. That is the calling convention of both drivers on 64-bit
// machines: there a CUdeviceptr, a void* and an enum are passed like these. Sources: the CUDA
// Driver API reference and HIP's hip_runtime_api.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::sdk {

struct ApiStream;
struct ApiEvent;
struct ApiPool;
struct ApiModule;
struct ApiFunction;
struct ApiGraph;
struct ApiGraphExec;

/// Access rights to the memory of a pool: CUmemAccessDesc and hipMemAccessDesc.
struct ApiPoolAccess {
  int location_type = 1;  ///< a device
  int location = 0;       ///< its number
  int flags = 3;          ///< reads and writes
};
static_assert(sizeof(void*) == 8, "device addresses are pointers of 64 bits");

/// Flags and codes that are equal in both drivers.
inline constexpr unsigned kApiStreamNonBlocking = 1;
inline constexpr unsigned kApiEventBlockingSync = 1;
inline constexpr unsigned kApiEventDisableTiming = 2;
inline constexpr unsigned kApiHostPortable = 1, kApiHostMapped = 2;
inline constexpr int kApiCaptureRelaxed = 2;
inline constexpr int kApiFunctionDynamicShared = 8;
inline constexpr int kApiNotReady = 600;

/// A device is given by ordinal, or is the current one of the thread. Functions marked [optional]
/// may be null.
struct StreamApi {
  int (*init)(unsigned flags);
  int (*driver_version)(int* out);
  int (*device_count)(int* out);
  int (*device_name)(char* out, int capacity, int device);
  int (*device_uuid)(unsigned char* out, int device);  ///< [optional] 16 bytes
  int (*device_bus_id)(char* out, int capacity, int device);
  int (*device_memory)(size_t* out, int device);
  int (*device_attribute)(int* out, int attribute, int device);
  int (*can_access_peer)(int* out, int device, int peer);

  int (*stream_create)(ApiStream** out, unsigned flags);
  int (*stream_destroy)(ApiStream*);
  int (*stream_synchronize)(ApiStream*);
  int (*stream_wait_event)(ApiStream*, ApiEvent*, unsigned flags);

  int (*event_create)(ApiEvent** out, unsigned flags);
  int (*event_destroy)(ApiEvent*);
  int (*event_record)(ApiEvent*, ApiStream*);
  int (*event_query)(ApiEvent*);  ///< kApiNotReady until the stream has passed it
  int (*event_synchronize)(ApiEvent*);
  int (*event_elapsed)(float* milliseconds, ApiEvent* begin, ApiEvent* end);

  int (*memory_allocate)(uint64_t* out, size_t size);
  int (*memory_free)(uint64_t address);
  int (*memory_allocate_async)(uint64_t* out, size_t size, ApiStream*);  ///< [optional]
  int (*memory_free_async)(uint64_t address, ApiStream*);                ///< [optional]
  int (*default_pool)(ApiPool** out, int device);                        ///< [optional]
  int (*pool_set_access)(ApiPool*, const ApiPoolAccess*, size_t count);  ///< [optional]
  int (*host_allocate)(void** out, size_t size, unsigned flags);         ///< pinned
  int (*host_free)(void*);
  int (*host_register)(void*, size_t size, unsigned flags);
  int (*host_unregister)(void*);
  int (*host_device_address)(uint64_t* out, void*, unsigned flags);

  int (*fill8)(uint64_t address, unsigned char value, size_t count, ApiStream*);
  int (*fill16)(uint64_t address, unsigned short value, size_t count, ApiStream*);
  int (*fill32)(uint64_t address, unsigned value, size_t count, ApiStream*);

  int (*module_load)(ApiModule** out, const void* image);
  int (*module_unload)(ApiModule*);
  int (*module_function)(ApiFunction** out, ApiModule*, const char* name);
  int (*function_set_attribute)(ApiFunction*, int attribute, int value);  ///< [optional]
  int (*launch)(ApiFunction*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, ApiStream*,
                void** arguments, void** extra);

  int (*capture_begin)(ApiStream*, int mode);  ///< [optional], with all below
  int (*capture_end)(ApiStream*, ApiGraph** out);
  int (*graph_instantiate)(ApiGraphExec** out, ApiGraph*, unsigned long long flags);
  int (*graph_launch)(ApiGraphExec*, ApiStream*);
  int (*graph_exec_destroy)(ApiGraphExec*);
  int (*graph_destroy)(ApiGraph*);
};

}  // namespace tenon::sdk
