// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling from many threads, for absent targets, saving, loading damaged bytes, refusing.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <thread>

#include "tests/cpu/gemm_program.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

void append(void* user, const void* bytes, size_t size) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
}

sdk::Program add_program(uint16_t lanes = 4) {
  const tn_dtype inputs[] = {TN_DTYPE_I32, TN_DTYPE_I32};
  return elementwise_program(TN_OP_ADD, inputs, TN_DTYPE_I32, lanes);
}

bool adds(tn_executable* executable) {
  std::vector<int32_t> x(64), y(64);
  for (int32_t i = 0; i < 64; ++i) x[i] = i, y[i] = 1000 - 3 * i;
  Bytes a = to_bytes(x), b = to_bytes(y), c(a.size());
  const Argument arguments[] = {{&a}, {&b}, {&c}};
  shared_device().launch(executable, {16}, arguments);
  const auto sums = from_bytes<int32_t>(c);
  for (int32_t i = 0; i < 64; ++i) {
    if (sums[i] != x[i] + y[i]) return false;
  }
  return true;
}

std::string save(tn_executable* executable) {
  std::string bytes;
  tn_error error = TN_INIT(tn_error);
  require_ok(plugin().executable_save(executable, append, &bytes, &error), error);
  return bytes;
}

int32_t load(const tn_target& target, const std::string& bytes, tn_executable** out) {
  tn_error error = TN_INIT(tn_error);
  return plugin().executable_load(&target, bytes.data(), bytes.size(), out, &error);
}

}  // namespace

TEST_CASE("a saved executable loads and runs") {
  tn_executable* executable = shared_device().compile(add_program());
  const std::string bytes = save(executable);
  plugin().executable_destroy(executable);
  tn_executable* loaded = nullptr;
  REQUIRE(load(shared_device().target(), bytes, &loaded) == TN_OK);
  CHECK(adds(loaded));
  CHECK(save(loaded) == bytes);
  plugin().executable_destroy(loaded);
}

TEST_CASE("damaged bytes are incompatible, wherever the damage is") {
  tn_executable* executable = shared_device().compile(add_program());
  const std::string bytes = save(executable);
  plugin().executable_destroy(executable);
  tn_executable* loaded = nullptr;
  const tn_target target = shared_device().target();
  for (size_t i = 0; i < bytes.size(); i += i < 64 ? 1 : 13) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    REQUIRE(load(target, damaged, &loaded) == TN_ERROR_INCOMPATIBLE);
  }
  for (size_t size : {size_t{1}, size_t{40}, size_t{64}, bytes.size() / 2, bytes.size() - 1})
    CHECK(load(target, bytes.substr(0, size), &loaded) == TN_ERROR_INCOMPATIBLE);
  CHECK(load(target, bytes + "x", &loaded) == TN_ERROR_INCOMPATIBLE);
  CHECK(loaded == nullptr);
}

TEST_CASE("code for another processor is made, shown, and not taken for the host's") {
  for (const char* name : {"x86_64/skylake-avx512", "haswell", "x86-64", "host"}) {
    tn_target target = TN_INIT(tn_target);
    target.name = name;
    tn_error error = TN_INIT(tn_error);
    tn_executable* executable = nullptr;
    const sdk::Program program = add_program(16);
    CAPTURE(name);
    CHECK(plugin().supports(&target, program.get(), 0, nullptr) == TN_SUPPORT_YES);
    require_ok(plugin().compile(&target, program.get(), nullptr, &executable, &error), error);
    std::string assembly, source;
    require_ok(plugin().executable_text(executable, TN_TEXT_ASSEMBLY, append, &assembly, &error),
               error);
    require_ok(plugin().executable_text(executable, TN_TEXT_SOURCE, append, &source, &error),
               error);
    CHECK(source.find("add <16 x i32>") != std::string::npos);
    CHECK(assembly.find("tenon_entry") != std::string::npos);
    if (std::string(name) == "haswell") {
      CHECK(assembly.find("ymm") != std::string::npos);
      CHECK(assembly.find("zmm") == std::string::npos);
    }
    if (std::string(name).ends_with("avx512")) CHECK(assembly.find("zmm") != std::string::npos);
    if (std::string(name) != "host") {
      tn_executable* loaded = nullptr;
      CHECK(load(shared_device().target(), save(executable), &loaded) == TN_ERROR_INCOMPATIBLE);
    }
    // Without a device there is nothing to launch.
    const tn_argument none[3] = {};
    const tn_command command = launch_command(executable, {1}, none);
    tn_submission submission = TN_INIT(tn_submission);
    submission.commands = &command;
    submission.command_count = 1;
    submission.command_stride = sizeof command;
    CHECK(plugin().submit(shared_device().get(), &submission, &error) == TN_ERROR_INVALID_ARGUMENT);
    plugin().executable_destroy(executable);
  }
  tn_target target = TN_INIT(tn_target);
  const tn_properties* properties = nullptr;
  tn_error error = TN_INIT(tn_error);
  for (const char* name : {"z80", "x86_64/", "", "x86_64/nonsense"}) {
    target.name = name;
    CHECK(plugin().properties(&target, &properties, &error) == TN_ERROR_NOT_FOUND);
  }
  target.name = "haswell";
  REQUIRE(plugin().properties(&target, &properties, &error) == TN_OK);
  CHECK(properties->vector_bytes == 32);
}

TEST_CASE("compiling from several threads at once") {
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([t, &right] {
      for (uint16_t i = 0; i < 8; ++i) {
        tn_error error = TN_INIT(tn_error);
        tn_executable* executable = nullptr;
        const tn_target target = shared_device().target();
        const sdk::Program program = add_program();
        if (plugin().compile(&target, program.get(), nullptr, &executable, &error) != TN_OK)
          continue;
        right[t] += adds(executable);
        plugin().executable_destroy(executable);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 8));
}

TEST_CASE("code is the same bytes, whatever its generator has made before") {
  const tn_dtype inputs[] = {TN_DTYPE_F64};
  std::vector<sdk::Program> programs;
  programs.push_back(add_program());
  programs.push_back(gemm_program({24, 64, 16}));
  programs.push_back(elementwise_program(TN_OP_EXP, inputs, TN_DTYPE_F64, 4));
  programs.push_back(add_program(16));
  const auto code = [&](size_t i) {
    tn_error error = TN_INIT(tn_error);
    tn_executable* executable = nullptr;
    const tn_target target = shared_device().target();
    if (plugin().compile(&target, programs[i].get(), nullptr, &executable, &error) != TN_OK)
      return std::string();
    std::string bytes;
    if (plugin().executable_save(executable, append, &bytes, &error) != TN_OK) bytes.clear();
    plugin().executable_destroy(executable);
    return bytes;
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
    tn_executable* executable = shared_device().compile(gemm_program(shape), &report);
    CHECK(report.binary_bytes > 0);
    CHECK(report.compile_ns > 0);
    std::string assembly;
    plugin().executable_text(executable, TN_TEXT_ASSEMBLY, append, &assembly, nullptr);
    plugin().executable_destroy(executable);
    size_t fused = 0;
    for (size_t at = 0; (at = assembly.find("vfmadd", at)) != std::string::npos; ++at) ++fused;
    CHECK(fused == 12u * 2 * 4);
    CHECK(assembly.find("Spill") == std::string::npos);
  }
}

}  // namespace tenon::cpu_test
