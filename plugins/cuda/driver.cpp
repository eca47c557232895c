// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's functions by name, and what it says of its devices.
#include "plugins/cuda/driver.hpp"

#include <fmt/format.h>

#include <cstring>

#include "plugins/cuda/targets.hpp"
#include "sdk/helpers/failure.hpp"

namespace tenon::cuda {
namespace {

// CUdevice_attribute
constexpr sdk::StreamAttributes kAttributes = {.threads = 1,
                                               .block = 2,
                                               .grid = 5,
                                               .shared_bytes = 97,  // with opt-in
                                               .subgroup = 10,
                                               .compute_units = 16,
                                               .l2_bytes = 38};
constexpr int kComputeMajor = 75, kComputeMinor = 76, kMemoryPools = 115;

// CUresult
constexpr int kPeerAlreadyEnabled = 704;

constexpr int kLocationDevice = 1, kReadWrite = 3;
constexpr int kNameBytes = 128, kBusIdBytes = 32;

}  // namespace

Driver::Driver() : library_(std::vector<std::string>{"libcuda.so.1"}) {
  if (!library_) throw sdk::Failure(TN_ERROR_NOT_FOUND, library_.reason());
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
      {"cuInit", &c.init},
      {"cuDriverGetVersion", &c.driver_version},
      {"cuDeviceGetCount", &c.device_count},
      {"cuDeviceGetName", &c.device_name},
      {"cuDeviceGetUuid", &c.device_uuid},
      {"cuDeviceGetPCIBusId", &c.device_bus_id},
      {"cuDeviceTotalMem_v2", &c.device_memory},
      {"cuDeviceGetAttribute", &c.device_attribute},
      {"cuDevicePrimaryCtxRetain", &c.context_retain},
      {"cuDevicePrimaryCtxRelease", &c.context_release},
      {"cuCtxSetCurrent", &c.context_set},
      {"cuDeviceCanAccessPeer", &c.can_access_peer},
      {"cuCtxEnablePeerAccess", &c.enable_peer},
      {"cuDeviceGetDefaultMemPool", &c.default_pool, true},
      {"cuMemPoolSetAccess", &c.pool_set_access, true},
      {"cuMemcpyAsync", &c.copy},
      {"cuGetErrorName", &c.error_name},
      {"cuGetErrorString", &c.error_text},
  };
  if (const std::string missing = sdk::load_symbols(library_, rows); !missing.empty()) {
    throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
  }
  check(cuda_.init(0), "cuInit");
  int count = 0;
  check(cuda_.device_count(&count), "cuDeviceGetCount");
  count_ = static_cast<uint32_t>(count);
  contexts_ = std::make_unique<std::atomic<Context*>[]>(count_);
}

std::vector<sdk::StreamDeviceFacts> Driver::devices() const {
  int version = 0;
  check(cuda_.driver_version(&version), "cuDriverGetVersion");
  std::vector<sdk::StreamDeviceFacts> out;
  // CUdevice is an ordinal below the count: cuDeviceGet gives the number that it is given.
  for (int device = 0; device < static_cast<int>(count_); ++device) {
    char name[kNameBytes] = {}, bus_id[kBusIdBytes] = {};
    size_t memory = 0;
    check(cuda_.device_name(name, sizeof name, device), "cuDeviceGetName");
    check(cuda_.device_bus_id(bus_id, sizeof bus_id, device), "cuDeviceGetPCIBusId");
    check(cuda_.device_memory(&memory, device), "cuDeviceTotalMem");
    const Architecture architecture{
        attribute(kComputeMajor, device) * 10 + attribute(kComputeMinor, device), 0};
    sdk::StreamDeviceFacts facts;
    facts.info =
        sdk::device_info(TN_DEVICE_GPU, name, device_target(architecture),
                         fmt::format("CUDA driver {}.{}", version / 1000, version % 1000 / 10));
    check(cuda_.device_uuid(facts.info.uuid, device), "cuDeviceGetUuid");
    facts.bus_id = bus_id;
    facts.ordinal = static_cast<uint32_t>(device);
    facts.limits = sdk::read_limits(kAttributes, limits_of(architecture),
                                    [&](int id) { return attribute(id, device); });
    facts.limits.memory_bytes = memory;
    out.push_back(facts);
  }
  return out;
}

int Driver::attribute(int attribute, int device) const {
  int value = 0;
  return cuda_.device_attribute(&value, attribute, device) == 0 ? value : 0;
}

void Driver::check(int code, const char* what) const {
  if (code == 0) return;
  throw sdk::Failure(TN_ERROR_NOT_FOUND, fmt::format("{}: {}", what, describe(code)), code);
}

int Driver::retain(uint32_t device) {
  Context* context = nullptr;
  const int code = cuda_.context_retain(&context, static_cast<int>(device));
  if (code == 0) contexts_[device] = context;
  return code;
}

void Driver::release(uint32_t device) { cuda_.context_release(static_cast<int>(device)); }

int Driver::activate(uint32_t device) { return cuda_.context_set(contexts_[device]); }

int Driver::copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) {
  return cuda_.copy(to, from, size, stream);  // addresses are unified: it finds out whose they are
}

bool Driver::has_memory_pools(uint32_t device) const {
  return api_.memory_allocate_async && api_.memory_free_async &&
         attribute(kMemoryPools, static_cast<int>(device)) != 0;
}

bool Driver::enable_peer(uint32_t device, uint32_t peer) {
  int can = 0;
  const int here = static_cast<int>(device), there = static_cast<int>(peer);
  if (cuda_.can_access_peer(&can, here, there) != 0 || !can || !contexts_[peer]) return false;
  const int code = cuda_.enable_peer(contexts_[peer], 0);
  if (code != 0 && code != kPeerAlreadyEnabled) return false;
  if (!has_memory_pools(peer)) return true;
  // Memory of a pool is not reached by way of its context.
  MemoryPool* pool = nullptr;
  const MemoryAccess access{kLocationDevice, here, kReadWrite};
  return cuda_.default_pool && cuda_.pool_set_access && cuda_.default_pool(&pool, there) == 0 &&
         cuda_.pool_set_access(pool, &access, 1) == 0;
}

std::string Driver::describe(int code) const {
  const char *name = nullptr, *text = nullptr;
  if (cuda_.error_name(code, &name) != 0 || !name) name = "CUDA error";
  if (cuda_.error_text(code, &text) != 0 || !text) text = "unknown";
  return fmt::format("{} ({}): {}", name, code, text);
}

}  // namespace tenon::cuda
