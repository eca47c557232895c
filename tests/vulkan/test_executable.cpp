// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Foreign executables, targets that need not be there, text. What every plugin must do with saved
// executables and threads is tried by the checks of the conformance tool.
#include <catch2/catch_test_macros.hpp>

#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

constexpr uint32_t kCount = 100, kThreads = 32;

int32_t load(const tn_target& target, const std::string& bytes, tn_executable** out) {
  return plugin().executable_load(&target, bytes.data(), bytes.size(), out, nullptr);
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

TEST_CASE("bytes of another target or of other options are incompatible") {
  const Device& device = shared_device();
  const std::string bytes = device.save(device.compile(add_program(kCount, kThreads)));
  tn_executable* loaded = nullptr;
  CHECK(load(named_target("vulkan1.2"), bytes, &loaded) == TN_ERROR_INCOMPATIBLE);
  const Device packed(plugin(), "packed=1");
  CHECK(load(packed.target(), bytes, &loaded) == TN_ERROR_INCOMPATIBLE);
  CHECK(loaded == nullptr);
}

TEST_CASE("targets by name need no device, and show source and assembly") {
  for (const char* name : {"vulkan1.2", "spirv1.5"}) {
    CAPTURE(name);
    const tn_target target = named_target(name);
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
    REQUIRE(load(target, shared_device().save(executable), &loaded) == TN_OK);
    plugin().executable_destroy(loaded);
    plugin().executable_destroy(executable);
  }
  const tn_properties* properties = nullptr;
  for (const char* name : {"spirv", "spirv1.5+i8", "", "sm_90a"}) {
    const tn_target target = named_target(name);
    CHECK(plugin().properties(&target, &properties, nullptr) == TN_ERROR_NOT_FOUND);
  }
}

TEST_CASE("what is for a named target cannot be launched") {
  const Device& device = shared_device();
  const tn_target target = named_target("vulkan1.2");
  tn_executable* executable = nullptr;
  REQUIRE(plugin().compile(&target, add_program(kCount, kThreads).get(), nullptr, &executable,
                           nullptr) == TN_OK);
  const Executable owner(executable, plugin().executable_destroy);
  const Memory memory(device, kCount * 4);
  const tn_argument all = sdk::buffer_argument(memory, 0, kCount * 4);
  const tn_argument arguments[] = {all, all, sdk::scalar_argument(1)};
  const tn_command command = sdk::launch_command(executable, {1}, {kThreads}, arguments);
  CHECK(device.submit({&command, 1}) == TN_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("more scalars than push constants are refused with the reason") {
  const tn_target target = named_target("vulkan1.2");
  char reason[256] = {};
  const sdk::Program few = scalar_program(32), many = scalar_program(33);
  CHECK(plugin().supports(&target, few.get(), sizeof reason, reason) == TN_SUPPORT_YES);
  CHECK(plugin().supports(&target, many.get(), sizeof reason, reason) == TN_SUPPORT_NO);
  CHECK(std::string(reason).find("128 bytes of push constants") != std::string::npos);
}

}  // namespace tenon::vulkan_test
