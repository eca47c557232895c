// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcuda.so.1 that does at once what it is asked for and launches nothing: for the plugin's own
// part, the names of functions, the contexts of the calling thread, and which images a driver
// takes. FAKE_CUDA_DRIVER is its version (12040), FAKE_CUDA_CAPABILITY that of its two devices
// (90), FAKE_CUDA_REFUSE what module loads answer.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Context {
  int device;
};
std::array<Context, 2> contexts = {{{0}, {1}}};
std::array<std::atomic<int>, 2> retained = {};

std::vector<Context*>& stack() {
  thread_local std::vector<Context*> current;
  return current;
}

int number_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}
int driver() { return number_of("FAKE_CUDA_DRIVER", 12040); }
int capability() { return number_of("FAKE_CUDA_CAPABILITY", 90); }

/// What needs a context answers INVALID_CONTEXT where none is current, or it was released.
int in_context() {
  return stack().empty() || retained[static_cast<size_t>(stack().back()->device)] == 0 ? 201 : 0;
}

template <class T>
int make(T** out) {
  static char object;
  if (const int code = in_context()) return code;
  *out = reinterpret_cast<T*>(&object);
  return 0;
}

int allocate(void** out, size_t size) {
  if (const int code = in_context()) return code;
  *out = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return 0;
}

int release(void* at) {
  const int code = in_context();
  if (code == 0) std::free(at);
  return code;
}

template <class T>
int fill(uint64_t at, T value, size_t count) {
  const int code = in_context();
  if (code == 0) std::fill_n(reinterpret_cast<T*>(at), count, value);
  return code;
}

}  // namespace

extern "C" {

/// For tests: of the calling thread the contexts on its stack and the current one's device, or -1;
/// how often a primary context is retained.
int fake_cuda_depth() { return static_cast<int>(stack().size()); }
int fake_cuda_current() { return stack().empty() ? -1 : stack().back()->device; }
int fake_cuda_retained(int device) { return retained[static_cast<size_t>(device)]; }

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* out) { return *out = driver(), 0; }
int cuDeviceGetCount(int* out) { return *out = 2, 0; }
int cuDeviceGetName(char* out, int, int) { return std::strcpy(out, "fake"), 0; }
int cuDeviceGetPCIBusId(char* out, int, int device) {
  std::strcpy(out, device ? "0000:02:00.0" : "0000:01:00.0");
  return 0;
}
int cuDeviceTotalMem_v2(size_t* out, int) { return *out = 1 << 20, 0; }
int cuDeviceGetAttribute(int* out, int attribute, int) {
  *out = attribute == 75 ? capability() / 10 : attribute == 76 ? capability() % 10 : 0;
  return 0;
}
int cuDeviceCanAccessPeer(int* out, int, int) { return *out = 0, 0; }

int cuDevicePrimaryCtxRetain(Context** out, int device) {
  ++retained[static_cast<size_t>(device)];
  *out = &contexts[static_cast<size_t>(device)];
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  --retained[static_cast<size_t>(device)];
  return 0;
}
int cuCtxPushCurrent_v2(Context* context) {
  if (!context || retained[static_cast<size_t>(context->device)] == 0) return 201;
  stack().push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(Context** out) {
  if (stack().empty()) return 201;
  *out = stack().back();
  stack().pop_back();
  return 0;
}
int cuCtxEnablePeerAccess(Context*, unsigned) { return in_context(); }

int cuStreamCreate(void** out, unsigned) { return make(out); }
int cuStreamDestroy_v2(void*) { return in_context(); }
int cuStreamSynchronize(void*) { return in_context(); }
int cuStreamWaitEvent(void*, void*, unsigned) { return in_context(); }
int cuEventCreate(void** out, unsigned) { return make(out); }
int cuEventDestroy_v2(void*) { return in_context(); }
int cuEventRecord(void*, void*) { return in_context(); }
int cuEventQuery(void*) { return in_context(); }
int cuEventSynchronize(void*) { return in_context(); }
int cuEventElapsedTime(float* out, void*, void*) { return *out = 0.5F, in_context(); }

int cuMemAlloc_v2(void** out, size_t size) { return allocate(out, size); }
int cuMemFree_v2(void* at) { return release(at); }
int cuMemHostAlloc(void** out, size_t size, unsigned) { return allocate(out, size); }
int cuMemFreeHost(void* at) { return release(at); }
int cuMemHostRegister_v2(void*, size_t, unsigned) { return in_context(); }
int cuMemHostUnregister(void*) { return in_context(); }
int cuMemHostGetDevicePointer_v2(void** out, void* at, unsigned) {
  *out = at;
  return in_context();
}
int cuMemsetD8Async(uint64_t at, unsigned char v, size_t n, void*) { return fill(at, v, n); }
int cuMemsetD16Async(uint64_t at, unsigned short v, size_t n, void*) { return fill(at, v, n); }
int cuMemsetD32Async(uint64_t at, unsigned v, size_t n, void*) { return fill(at, v, n); }
int cuMemcpyAsync(void* to, const void* from, size_t size, void*) {
  const int code = in_context();
  if (code == 0) std::memmove(to, from, size);
  return code;
}

/// An image is as "CUBIN 13 sm_90a" or "PTX 13 compute_90".
int cuModuleLoadData(void** out, const char* image) {
  if (const int code = number_of("FAKE_CUDA_REFUSE", 0)) return code;
  char kind[6] = {}, architecture[8] = {};
  int toolkit = 0, made_for = 0;
  if (std::sscanf(image, "%5s %d %7[a-z]_%d", kind, &toolkit, architecture, &made_for) != 4) {
    return 200;
  }
  const bool is_text = std::strcmp(kind, "PTX") == 0;
  if (toolkit > driver() / 1000) return is_text ? 222 : 200;
  if (is_text ? made_for > capability() : made_for != capability()) return 209;
  return make(out);
}
int cuModuleUnload(void*) { return in_context(); }
int cuModuleGetFunction(void** out, void*, const char*) { return make(out); }
int cuFuncSetAttribute(void*, int, int) { return in_context(); }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**) {
  return in_context();
}
int cuGetErrorName(int, const char** out) { return *out = "FAKE_ERROR", 0; }
int cuGetErrorString(int, const char** out) { return *out = "as it was told", 0; }
}
