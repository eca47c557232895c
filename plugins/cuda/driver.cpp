// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up functions of the driver, and queries its devices.
#include "plugins/cuda/driver.hpp"

#include <fmt/format.h>

#include "plugins/cuda/targets.hpp"
#include "sdk/backend/shared_library.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::cuda {
namespace {

constexpr int kComputeMajor = 75, kComputeMinor = 76;  // CUdevice_attribute
constexpr int kPeerAlreadyEnabled = 704;               // CUresult
constexpr int kInvalidDevice = 101;

}  // namespace

Driver::Driver() {
  const std::string name = "libcuda.so.1";
  const sdk::SharedLibrary library(std::span(&name, 1));
  if (!library) throw sdk::Failure(TN_ERROR_NOT_FOUND, library.reason());
  sdk::StreamApi& a = api_;
  DriverFunctions& c = cuda_;
  const sdk::SymbolRow rows[] = {
      {"cuStreamCreate", &a.stream_create},
      {"cuStreamDestroy_v2", &a.stream_destroy},
      {"cuStreamSynchronize", &a.stream_synchronize},
      {"cuStreamWaitEvent", &a.stream_wait_event},
      {"cuEventCreate", &a.event_create},
      {"cuEventDestroy_v2", &a.event_destroy},
      {"cuEventRecord", &a.event_record},
      {"cuEventQuery", &a.event_query},
      {"cuEventSynchronize", &a.event_synchronize},
      {"cuEventElapsedTime", &a.event_elapsed},
      {"cuMemAlloc_v2", &a.memory_allocate},
      {"cuMemFree_v2", &a.memory_free},
      {"cuMemAllocAsync", &a.memory_allocate_async, true},
      {"cuMemFreeAsync", &a.memory_free_async, true},
      {"cuMemHostAlloc", &a.host_allocate},
      {"cuMemFreeHost", &a.host_free},
      {"cuMemHostRegister_v2", &a.host_register},
      {"cuMemHostUnregister", &a.host_unregister},
      {"cuMemHostGetDevicePointer_v2", &a.host_device_address},
      {"cuMemsetD8Async", &a.fill8},
      {"cuMemsetD16Async", &a.fill16},
      {"cuMemsetD32Async", &a.fill32},
      {"cuModuleLoadData", &a.module_load},
      {"cuModuleUnload", &a.module_unload},
      {"cuModuleGetFunction", &a.module_function},
      {"cuFuncSetAttribute", &a.function_set_attribute},
      {"cuLaunchKernel", &a.launch},
      {"cuStreamBeginCapture_v2", &a.capture_begin, true},
      {"cuStreamEndCapture", &a.capture_end, true},
      {"cuGraphInstantiateWithFlags", &a.graph_instantiate, true},
      {"cuGraphLaunch", &a.graph_launch, true},
      {"cuGraphExecDestroy", &a.graph_exec_destroy, true},
      {"cuGraphDestroy", &a.graph_destroy, true},
      {"cuInit", &a.init},
      {"cuDriverGetVersion", &a.driver_version},
      {"cuDeviceGetCount", &a.device_count},
      {"cuDeviceGetName", &a.device_name},
      {"cuDeviceGetUuid", &a.device_uuid, true},
      {"cuDeviceGetPCIBusId", &a.device_bus_id},
      {"cuDeviceTotalMem_v2", &a.device_memory},
      {"cuDeviceGetAttribute", &a.device_attribute},
      {"cuDevicePrimaryCtxRetain", &c.context_retain},
      {"cuDevicePrimaryCtxRelease_v2", &c.context_release},
      {"cuCtxPushCurrent_v2", &c.context_push},
      {"cuCtxPopCurrent_v2", &c.context_pop},
      {"cuDeviceCanAccessPeer", &a.can_access_peer},
      {"cuCtxEnablePeerAccess", &c.enable_peer},
      {"cuDeviceGetDefaultMemPool", &a.default_pool, true},
      {"cuMemPoolSetAccess", &a.pool_set_access, true},
      {"cuMemcpyAsync", &c.copy},
      {"cuGetErrorName", &c.error_name},
      {"cuGetErrorString", &c.error_text},
  };
  if (const std::string missing = sdk::load_symbols(library, rows); !missing.empty()) {
    throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
  }
}

sdk::StreamAttributes Driver::attributes() const {
  // CUdevice_attribute; shared memory with opt-in
  return {.threads = 1,
          .block = 2,
          .grid = 5,
          .shared_bytes = 97,
          .subgroup = 10,
          .compute_units = 16,
          .l2_bytes = 38,
          .memory_pools = 115};
}

std::string Driver::driver_text(int version) const {
  return fmt::format("CUDA driver {}.{}", version / 1000, version % 1000 / 10);
}

std::string Driver::target(uint32_t device) const {
  return device_target(
      {attribute(kComputeMajor, device) * 10 + attribute(kComputeMinor, device), 0});
}

sdk::StreamLimits Driver::limits(std::string_view target) const {
  const auto architecture = parse_target(target);
  return architecture ? limits_of(*architecture) : sdk::StreamLimits();
}

int Driver::retain(uint32_t device) {
  if (device >= kMaxDevices) return kInvalidDevice;
  Context* context = nullptr;
  const int code = cuda_.context_retain(&context, static_cast<int>(device));
  if (code == 0) contexts_[device] = context;
  return code;
}

void Driver::release(uint32_t device) { cuda_.context_release(static_cast<int>(device)); }

int Driver::enter(uint32_t device, int&) { return cuda_.context_push(contexts_[device]); }

void Driver::leave(int) {
  Context* popped = nullptr;
  cuda_.context_pop(&popped);
}

int Driver::copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) {
  return cuda_.copy(to, from, size, stream);  // unified addresses: the driver finds the memory
}

bool Driver::enable_peer(uint32_t, uint32_t peer) {
  const int code = cuda_.enable_peer(contexts_[peer], 0);
  return code == 0 || code == kPeerAlreadyEnabled;
}

std::string Driver::describe(int code) const {
  const char *name = nullptr, *text = nullptr;
  if (cuda_.error_name(code, &name) != 0 || !name) name = "CUDA error";
  if (cuda_.error_text(code, &text) != 0 || !text) text = "unknown";
  return fmt::format("{} ({}): {}", name, code, text);
}

}  // namespace tenon::cuda
