// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA plugin on a fake driver and fake NVRTCs (fake_driver.cpp, fake_nvrtc.cpp), which
// LD_LIBRARY_PATH names. EXPECT_IMAGE is what the plugin must load, EXPECT_STATUS the status of a
// compilation that must fail.
#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/sdk/plugin_host.hpp"
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

constexpr uint64_t kForEver = UINT64_MAX;

/// Opens the first device and calls everything that needs it; `check` comes after each call.
void use_device(const tn_plugin& p, const std::function<void(const char*)>& check) {
  tn_error error = TN_INIT(tn_error);
  tn_device* device = nullptr;
  REQUIRE(p.device_open(0, nullptr, &device, &error) == TN_OK);
  check("open");
  tn_target target = TN_INIT(tn_target);
  target.device = device;
  const Program program = parsed(samples::kSoftmax);
  tn_executable* executable = nullptr;
  REQUIRE(p.compile(&target, program.get(), nullptr, &executable, &error) == TN_OK);
  check("compile");
  tn_memory *memory = nullptr, *host = nullptr, *import = nullptr;
  REQUIRE(p.memory_allocate(device, 0, 4096, &memory, &error) == TN_OK);
  REQUIRE(p.memory_allocate(device, 1, 4096, &host, &error) == TN_OK);
  check("allocate");
  std::vector<char> own(4096);
  REQUIRE(p.memory_import(device, 1, own.data(), own.size(), &import, &error) == TN_OK);
  check("import");
  tn_timeline* timeline = nullptr;
  REQUIRE(p.timeline_create(device, 0, &timeline, &error) == TN_OK);
  check("timeline");
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_FILL;
  command.destination = host;
  command.size = 4096;
  command.pattern = 7;
  command.pattern_size = 4;
  const tn_point point = {timeline, 1};
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = 1;
  submission.command_stride = sizeof command;
  submission.commands = &command;
  submission.signal_count = 1;
  submission.signals = &point;
  REQUIRE(p.submit(device, &submission, &error) == TN_OK);
  check("submit");
  REQUIRE(p.timeline_wait(timeline, 1, kForEver, &error) == TN_OK);
  check("wait");
  uint64_t value = 0;
  REQUIRE(p.timeline_query(timeline, &value, &error) == TN_OK);
  CHECK(value == 1);
  check("query");
  p.timeline_destroy(timeline);
  for (tn_memory* each : {memory, host, import}) p.memory_free(each);
  check("free");
  p.executable_destroy(executable);
  check("destroy");
  p.device_close(device);
  check("close");
}

}  // namespace

TEST_CASE("the calling thread keeps its own current context", "[contexts]") {
  const tn_plugin& p = plugin().table();
  use_device(p, [](const char* after) {
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
  use_device(p, [](const char* after) {
    INFO("after " << after << " in a thread of another device's");
    CHECK(ask("fake_cuda_depth") == 1);
    CHECK(ask("fake_cuda_current") == 1);
  });
  CHECK(retained(0) == 0);
  CHECK(retained(1) == 1);
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
