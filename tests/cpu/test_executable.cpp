// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling for absent targets, the same bytes each time, refusing. The checks of the conformance
// tool try saved executables.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <thread>

#include "tests/cpu/gemm_program.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

sdk::Program add_program(uint16_t lanes = 4) {
  const tn_dtype inputs[] = {TN_DTYPE_I32, TN_DTYPE_I32};
  return elementwise_program(TN_OP_ADD, inputs, TN_DTYPE_I32, lanes);
}

}  // namespace

TEST_CASE("code for another processor is made, shown, and not taken for the host's") {
  for (const char* name : {"x86_64/skylake-avx512", "haswell", "x86-64", "host"}) {
    const tn_target target = named_target(name);
    tn_error error = TN_INIT(tn_error);
    tn_executable* made = nullptr;
    const sdk::Program program = add_program(16);
    CAPTURE(name);
    CHECK(plugin().supports(&target, program.get(), 0, nullptr) == TN_SUPPORT_YES);
    require_ok(plugin().compile(&target, program.get(), nullptr, &made, &error), error);
    const Executable executable(made, plugin().executable_destroy);
    const Device& device = shared_device();
    const std::string assembly = device.text(executable, TN_TEXT_ASSEMBLY);
    CHECK(device.text(executable, TN_TEXT_SOURCE).find("add <16 x i32>") != std::string::npos);
    CHECK(assembly.find("tenon_entry") != std::string::npos);
    if (std::string(name) == "haswell") {
      CHECK(assembly.find("ymm") != std::string::npos);
      CHECK(assembly.find("zmm") == std::string::npos);
    }
    if (std::string(name).ends_with("avx512")) CHECK(assembly.find("zmm") != std::string::npos);
    if (std::string(name) != "host") {
      CHECK(status_of([&] { device.load(device.save(executable)); }) == TN_ERROR_INCOMPATIBLE);
    }
    // Without a device there is nothing to launch.
    const tn_argument none[3] = {};
    const tn_command command = sdk::launch_command(executable, {}, {}, none);
    CHECK(device.submit({&command, 1}) == TN_ERROR_INVALID_ARGUMENT);
  }
  const tn_properties* properties = nullptr;
  for (const char* name : {"z80", "x86_64/", "", "x86_64/nonsense"}) {
    const tn_target target = named_target(name);
    CHECK(plugin().properties(&target, &properties, nullptr) == TN_ERROR_NOT_FOUND);
  }
  const tn_target target = named_target("haswell");
  REQUIRE(plugin().properties(&target, &properties, nullptr) == TN_OK);
  CHECK(properties->vector_bytes == 32);
}

TEST_CASE("code is the same bytes, whatever its generator has made before") {
  const tn_dtype inputs[] = {TN_DTYPE_F64};
  std::vector<sdk::Program> programs;
  programs.push_back(add_program());
  programs.push_back(gemm_program({24, 64, 16}));
  programs.push_back(elementwise_program(TN_OP_EXP, inputs, TN_DTYPE_F64, 4));
  programs.push_back(add_program(16));
  const auto code = [&](size_t i) {
    return shared_device().save(shared_device().compile(programs[i]));
  };
  // Every order of two, on threads that take generators from one another.
  constexpr size_t kThreads = 4;
  std::vector<std::vector<std::vector<std::string>>> seen(
      kThreads, std::vector<std::vector<std::string>>(programs.size()));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < programs.size(); ++i)
        for (size_t j = 0; j < programs.size(); ++j)
          for (const size_t k : {(i + t) % programs.size(), (j + t) % programs.size()})
            seen[t][k].push_back(code(k));
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < programs.size(); ++k) {
    const std::string expected = code(k);
    REQUIRE(!expected.empty());
    for (const auto& of_thread : seen)
      for (const std::string& bytes : of_thread[k]) CHECK(bytes == expected);
  }
}

TEST_CASE("what is not supported is refused with a reason, and compile agrees") {
  struct Case {
    const char* reason;
    sdk::Program program;
  };
  std::vector<Case> cases;
  {
    sdk::ProgramBuilder b("narrow");
    const Value x = b.constant(TN_DTYPE_F16, 0x3c00);
    b.op(TN_OP_ADD, TN_DTYPE_F16, 1, {x, x});
    cases.push_back({"f16", b.finish()});
  }
  {
    sdk::ProgramBuilder b("wide");
    b.constant(TN_DTYPE_F32, 0, 1024);
    cases.push_back({"lanes", b.finish()});
  }
  {
    sdk::ProgramBuilder b("group");
    b.workgroup(32, 1, 1);
    cases.push_back({"workgroup", b.finish()});
  }
  {
    sdk::ProgramBuilder b("barrier");
    b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
    cases.push_back({"claimed", b.finish()});
  }
  {
    sdk::ProgramBuilder b("huge");
    b.allocate("huge", TN_DTYPE_F64, TN_SPACE_REGISTER, uint64_t{1} << 40);
    cases.push_back({"huge", b.finish()});
  }
  const tn_target target = shared_device().target();
  for (const Case& c : cases) {
    char reason[256] = "";
    CAPTURE(c.reason);
    CHECK(plugin().supports(&target, c.program.get(), sizeof reason, reason) == TN_SUPPORT_NO);
    CHECK(std::string(reason).find(c.reason) != std::string::npos);
    tn_error error = TN_INIT(tn_error);
    tn_executable* executable = nullptr;
    CHECK(plugin().compile(&target, c.program.get(), nullptr, &executable, &error) != TN_OK);
    CHECK(executable == nullptr);
  }
}

TEST_CASE("the matrix product keeps its tile in registers") {
  if (shared_device().properties().vector_bytes != 64) SKIP("needs 512-bit vectors");
  for (bool by_attribute : {false, true}) {
    GemmShape shape{516, 512, 512};
    shape.by_attribute = by_attribute;
    tn_compile_report report = TN_INIT(tn_compile_report);
    const Executable executable = shared_device().compile(gemm_program(shape), &report);
    CHECK(report.binary_bytes > 0);
    CHECK(report.compile_ns > 0);
    const std::string assembly = shared_device().text(executable, TN_TEXT_ASSEMBLY);
    size_t fused = 0;
    for (size_t at = 0; (at = assembly.find("vfmadd", at)) != std::string::npos; ++at) ++fused;
    CHECK(fused == 12u * 2 * 4);
    CHECK(assembly.find("Spill") == std::string::npos);
  }
}

}  // namespace tenon::cpu_test
