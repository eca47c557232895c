// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saved, damaged and foreign executables, targets that need not be there, text, threads.
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <thread>

#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

constexpr uint32_t kCount = 100, kThreads = 32;

std::string save(tn_executable* executable) {
  std::string bytes;
  tn_error error = TN_INIT(tn_error);
  require_ok(plugin().executable_save(executable, append_text, &bytes, &error), error);
  return bytes;
}

int32_t load(const tn_target& target, const std::string& bytes, tn_executable** out) {
  return plugin().executable_load(&target, bytes.data(), bytes.size(), out, nullptr);
}

bool adds(const Device& device, tn_executable* executable) {
  const Memory in(device.get(), kCount * 4), out(device.get(), kCount * 4);
  in.write(0, std::vector<uint8_t>(kCount * 4, 0));
  const tn_argument arguments[] = {buffer(in, 0, kCount * 4), buffer(out, 0, kCount * 4),
                                   scalar(0xfffffffe)};
  const tn_command command = launch(executable, 4, kThreads, arguments);
  device.run({&command, 1});
  const std::vector<uint8_t> bytes = out.read(99 * 4, 4);
  int32_t last = 0;
  std::memcpy(&last, bytes.data(), sizeof last);
  return last == -2;
}

tn_target named(const char* name) {
  tn_target target = TN_INIT(tn_target);
  target.name = name;
  return target;
}

/// A program with `count` scalars that it stores.
sdk::Program scalar_program(int count) {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b("scalars");
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  for (int i = 0; i < count; ++i) {
    const Value value = b.scalar("s" + std::to_string(i), TN_DTYPE_I32, INT32_MIN, INT32_MAX);
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {out, b.constant(TN_DTYPE_I32, static_cast<uint64_t>(i)), value});
  }
  return b.finish();
}

}  // namespace

TEST_CASE("a saved executable loads and runs") {
  const Device& device = shared_device();
  tn_executable* executable = device.compile(add_program(kCount, kThreads));
  CHECK(adds(device, executable));
  const std::string bytes = save(executable);
  plugin().executable_destroy(executable);
  tn_executable* loaded = nullptr;
  REQUIRE(load(device.target(), bytes, &loaded) == TN_OK);
  CHECK(adds(device, loaded));
  plugin().executable_destroy(loaded);
}

TEST_CASE("damaged and foreign bytes are incompatible") {
  const Device& device = shared_device();
  tn_executable* executable = device.compile(add_program(kCount, kThreads));
  const std::string bytes = save(executable);
  plugin().executable_destroy(executable);
  tn_executable* loaded = nullptr;
  for (size_t i = 0; i < bytes.size(); i += i < 64 ? 1 : 13) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    REQUIRE(load(device.target(), damaged, &loaded) == TN_ERROR_INCOMPATIBLE);
  }
  for (const size_t size : {size_t{1}, size_t{40}, bytes.size() / 2, bytes.size() - 1})
    CHECK(load(device.target(), bytes.substr(0, size), &loaded) == TN_ERROR_INCOMPATIBLE);
  CHECK(load(device.target(), bytes + "x", &loaded) == TN_ERROR_INCOMPATIBLE);
  CHECK(load(named("vulkan1.2"), bytes, &loaded) == TN_ERROR_INCOMPATIBLE);
  const Device packed("packed=1");
  CHECK(load(packed.target(), bytes, &loaded) == TN_ERROR_INCOMPATIBLE);
  CHECK(loaded == nullptr);
}

TEST_CASE("targets by name need no device, and show source and assembly") {
  for (const char* name : {"vulkan1.2", "spirv1.5"}) {
    CAPTURE(name);
    const tn_target target = named(name);
    const sdk::Program program = add_program(kCount, kThreads);
    tn_error error = TN_INIT(tn_error);
    tn_executable* executable = nullptr;
    require_ok(plugin().compile(&target, program.get(), nullptr, &executable, &error), error);
    std::string source, assembly;
    require_ok(plugin().executable_text(executable, TN_TEXT_SOURCE, append_text, &source, &error),
               error);
    require_ok(
        plugin().executable_text(executable, TN_TEXT_ASSEMBLY, append_text, &assembly, &error),
        error);
    CHECK(source.find("#version 450") == 0);
    CHECK(assembly.find("OpEntryPoint GLCompute") != std::string::npos);
    tn_executable* loaded = nullptr;
    REQUIRE(load(target, save(executable), &loaded) == TN_OK);
    plugin().executable_destroy(loaded);
    plugin().executable_destroy(executable);
  }
  const tn_properties* properties = nullptr;
  for (const char* name : {"spirv", "spirv1.5+i8", "", "sm_90a"}) {
    const tn_target target = named(name);
    CHECK(plugin().properties(&target, &properties, nullptr) == TN_ERROR_NOT_FOUND);
  }
}

TEST_CASE("what is for a named target cannot be launched") {
  const Device& device = shared_device();
  const tn_target target = named("vulkan1.2");
  const sdk::Program program = add_program(kCount, kThreads);
  tn_executable* executable = nullptr;
  REQUIRE(plugin().compile(&target, program.get(), nullptr, &executable, nullptr) == TN_OK);
  const Memory memory(device.get(), kCount * 4);
  const tn_argument arguments[] = {buffer(memory, 0, kCount * 4), buffer(memory, 0, kCount * 4),
                                   scalar(1)};
  const tn_command command = launch(executable, 1, kThreads, arguments);
  CHECK(device.submit({&command, 1}, {}, {}) == TN_ERROR_INVALID_ARGUMENT);
  plugin().executable_destroy(executable);
}

TEST_CASE("more scalars than push constants are refused with the reason") {
  const tn_target target = named("vulkan1.2");
  char reason[256] = {};
  const sdk::Program few = scalar_program(32), many = scalar_program(33);
  CHECK(plugin().supports(&target, few.get(), sizeof reason, reason) == TN_SUPPORT_YES);
  CHECK(plugin().supports(&target, many.get(), sizeof reason, reason) == TN_SUPPORT_NO);
  CHECK(std::string(reason).find("128 bytes of push constants") != std::string::npos);
}

TEST_CASE("many threads compile at once") {
  const Device& device = shared_device();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        tn_executable* executable = device.compile(add_program(kCount, kThreads));
        wrong[t] += !adds(device, executable);
        plugin().executable_destroy(executable);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(wrong.size()));
}

}  // namespace tenon::vulkan_test
