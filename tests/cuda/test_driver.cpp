// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA plugin on a fake driver and fake NVRTCs (fake_driver.cpp, fake_nvrtc.cpp), which
// LD_LIBRARY_PATH names. EXPECT_IMAGE is what the plugin must load, EXPECT_STATUS the status of a
// compilation that must fail.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>

#include "tests/sdk/null_device.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/stream/offline.hpp"

using namespace tenon::sdk;

namespace {

OfflinePlugin& plugin() {
  static OfflinePlugin instance("cuda");
  return instance;
}

void* fake(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  void* found = dlsym(library, name);
  INFO(name);
  REQUIRE(found);
  return found;
}
int ask(const char* name) { return reinterpret_cast<int (*)()>(fake(name))(); }
int retained(int device) {
  return reinterpret_cast<int (*)(int)>(fake("fake_cuda_retained"))(device);
}

}  // namespace

TEST_CASE("the calling thread keeps its own current context", "[contexts]") {
  use_device(plugin(), true, [](const char* after) {
    INFO("after " << after << " in a thread without a context");
    CHECK(ask("fake_cuda_depth") == 0);
  });
  CHECK(retained(0) == 0);
  // As a thread of PyTorch's on the other device.
  void* context = nullptr;
  using Retain = int (*)(void**, int);
  using Push = int (*)(void*);
  REQUIRE(reinterpret_cast<Retain>(fake("cuDevicePrimaryCtxRetain"))(&context, 1) == 0);
  REQUIRE(reinterpret_cast<Push>(fake("cuCtxPushCurrent_v2"))(context) == 0);
  use_device(plugin(), true, [](const char* after) {
    INFO("after " << after << " in a thread of another device's");
    CHECK(ask("fake_cuda_depth") == 1);
    CHECK(ask("fake_cuda_current") == 1);
  });
  CHECK(retained(0) == 0);
  CHECK(retained(1) == 1);
}

TEST_CASE("a child made by fork is told at once", "[fork]") {
  const auto open = [] {
    tn_error error = TN_INIT(tn_error);
    tn_device* device = nullptr;
    const int32_t status = plugin().table().device_open(0, nullptr, &device, &error);
    if (device) plugin().table().device_close(device);
    const std::string message = error.message;
    return status == TN_ERROR_UNSUPPORTED && message.find("made by fork") != std::string::npos ? 2
           : status == TN_OK                                                                   ? 0
                                                                                               : 1;
  };
  const auto in_child = [&] {
    const pid_t child = fork();
    if (child == 0) _exit(open());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  plugin();
  CHECK(in_child() == 0);  // which opens the driver first
  REQUIRE(open() == 0);
  CHECK(in_child() == 2);
  CHECK(open() == 0);
}

TEST_CASE("code is made by an NVRTC that the driver takes", "[image]") {
  const tn_plugin& p = plugin().table();
  tn_error error = TN_INIT(tn_error);
  tn_device* device = nullptr;
  REQUIRE(p.device_open(0, nullptr, &device, &error) == TN_OK);
  tn_target target = TN_INIT(tn_target);
  target.device = device;
  tn_executable* executable = nullptr;
  const int32_t status =
      p.compile(&target, parsed(samples::kSoftmax).get(), nullptr, &executable, &error);
  INFO(error.message);
  if (const char* image = std::getenv("EXPECT_IMAGE")) {
    REQUIRE(status == TN_OK);
    const std::string saved = plugin().save(executable);
    CHECK(saved.find(image) != std::string::npos);
    p.executable_destroy(executable);
  } else {
    REQUIRE(std::getenv("EXPECT_STATUS"));
    CHECK(status == std::atoi(std::getenv("EXPECT_STATUS")));
  }
  p.device_close(device);
}
