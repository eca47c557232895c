/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * wgpu-native, but its device is lost at the third submission, and has no features, which a plugin
 * might try by submissions of its own. All else is found in the library
 * that this one is linked to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <wgpu.h>

static WGPUDeviceLostCallbackInfo lost;
static int submissions;

WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter adapter, WGPUDeviceDescriptor const* descriptor,
                                    WGPURequestDeviceCallbackInfo callback) {
  WGPUFuture (*next)(WGPUAdapter, WGPUDeviceDescriptor const*, WGPURequestDeviceCallbackInfo) =
      (WGPUFuture(*)(WGPUAdapter, WGPUDeviceDescriptor const*, WGPURequestDeviceCallbackInfo))dlsym(
          RTLD_NEXT, "wgpuAdapterRequestDevice");
  lost = descriptor->deviceLostCallbackInfo;
  return next(adapter, descriptor, callback);
}

WGPUBool wgpuAdapterHasFeature(WGPUAdapter adapter, WGPUFeatureName feature) {
  (void)adapter, (void)feature;
  return 0;
}

void wgpuQueueSubmit(WGPUQueue queue, size_t count, WGPUCommandBuffer const* commands) {
  void (*next)(WGPUQueue, size_t, WGPUCommandBuffer const*) =
      (void (*)(WGPUQueue, size_t, WGPUCommandBuffer const*))dlsym(RTLD_NEXT, "wgpuQueueSubmit");
  const WGPUStringView message = {"for a test", 10};
  next(queue, count, commands);
  if (++submissions >= 3)
    lost.callback(NULL, WGPUDeviceLostReason_Unknown, message, lost.userdata1, lost.userdata2);
}
