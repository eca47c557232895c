// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libamdhip64 of two devices that does at once what it is asked for and launches nothing: for the
// plugin's own part, the names of functions and the calling thread's device.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

thread_local int current = 0;
thread_local int wrong = 0;  ///< calls for the first device while another was current

int on_first() {
  if (current != 0) ++wrong;
  return 0;
}
int make(void** out) {
  static char object;
  *out = &object;
  return on_first();
}
int allocate(void** out, size_t size) {
  *out = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return on_first();
}
int release(void* at) {
  std::free(at);
  return on_first();
}
template <class T>
int fill(uint64_t at, T value, size_t count) {
  std::fill_n(reinterpret_cast<T*>(at), count, value);
  return on_first();
}

}  // namespace

extern "C" {
int fake_hip_wrong() { return wrong; }

int hipInit(unsigned) { return 0; }
int hipRuntimeGetVersion(int* out) { return *out = 50221153, 0; }
int hipGetDeviceCount(int* out) { return *out = 2, 0; }
int hipDeviceGetName(char* out, int, int) { return std::strcpy(out, "fake"), 0; }
int hipDeviceGetPCIBusId(char* out, int, int device) {
  std::strcpy(out, device ? "0000:02:00.0" : "0000:01:00.0");
  return 0;
}
int hipDeviceTotalMem(size_t* out, int) { return *out = 1 << 20, 0; }
int hipDeviceGetAttribute(int* out, int, int) { return *out = 0, 0; }
int hipDeviceCanAccessPeer(int* out, int, int) { return *out = 0, 0; }
int hipGetDeviceProperties(char* out, int) { return std::strcpy(out + 100, "gfx90a"), 0; }
int hipSetDevice(int device) { return current = device, 0; }
int hipGetDevice(int* out) { return *out = current, 0; }
int hipDeviceEnablePeerAccess(int, unsigned) { return 0; }

int hipStreamCreateWithFlags(void** out, unsigned) { return make(out); }
int hipStreamDestroy(void*) { return on_first(); }
int hipStreamSynchronize(void*) { return on_first(); }
int hipStreamWaitEvent(void*, void*, unsigned) { return on_first(); }
int hipEventCreateWithFlags(void** out, unsigned) { return make(out); }
int hipEventDestroy(void*) { return on_first(); }
int hipEventRecord(void*, void*) { return on_first(); }
int hipEventQuery(void*) { return on_first(); }
int hipEventSynchronize(void*) { return on_first(); }
int hipEventElapsedTime(float* out, void*, void*) { return *out = 0.5F, on_first(); }

int hipMalloc(void** out, size_t size) { return allocate(out, size); }
int hipFree(void* at) { return release(at); }
int hipHostMalloc(void** out, size_t size, unsigned) { return allocate(out, size); }
int hipHostFree(void* at) { return release(at); }
int hipHostRegister(void*, size_t, unsigned) { return on_first(); }
int hipHostUnregister(void*) { return on_first(); }
int hipHostGetDevicePointer(void** out, void* at, unsigned) { return *out = at, on_first(); }
int hipMemsetD8Async(uint64_t at, unsigned char v, size_t n, void*) { return fill(at, v, n); }
int hipMemsetD16Async(uint64_t at, unsigned short v, size_t n, void*) { return fill(at, v, n); }
int hipMemsetD32Async(uint64_t at, unsigned v, size_t n, void*) { return fill(at, v, n); }
int hipMemcpyAsync(void* to, const void* from, size_t size, int, void*) {
  std::memmove(to, from, size);
  return on_first();
}

int hipModuleLoadData(void** out, const void*) { return make(out); }
int hipModuleUnload(void*) { return on_first(); }
int hipModuleGetFunction(void** out, void*, const char*) { return make(out); }
int hipModuleLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void*, void**, void**) {
  return on_first();
}
const char* hipGetErrorName(int) { return "hipErrorFake"; }
const char* hipGetErrorString(int) { return "as it was told"; }
}
