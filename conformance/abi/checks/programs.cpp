// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of supports, compile, save and load.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "conformance/abi/at_once.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/large_probes.hpp"
#include "conformance/abi/checks/mutate_program.hpp"
#include "conformance/abi/isolated_process.hpp"
#include "conformance/abi/refused.hpp"
#include "conformance/abi/saved.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// Programs of several shapes that the device takes.
std::vector<Kernel> sample_kernels(const OpenDevice& device) {
  std::vector<Kernel> out;
  for (const std::string& kind : program_kinds()) {
    for (const tn_dtype dtype : {TN_DTYPE_U32, TN_DTYPE_F32}) {
      KernelSpec spec;
      spec.kind = kind;
      spec.dtype = dtype;
      spec.constant = 3;
      spec.threads = 4;
      if (auto kernel = Kernel::fit(spec, device)) out.push_back(std::move(*kernel));
    }
  }
  need(!out.empty(), "the device takes none of the small programs");
  return out;
}

void expect_mutant_is_refused(const OpenDevice& device, const Mutant& mutant) {
  const tn_target target = device.target();
  std::string reason(256, kNoReason);
  const int32_t answer = device.table().supports(&target, mutant.program.get(), 256, reason.data());
  if (answer != TN_SUPPORT_NO)
    find("support", "supports: expected NO for a malformed program ({}), got {}", mutant.change,
         answer);
  expect_reason(reason, "a malformed program");
  tn_error error = abi_struct<tn_error>();
  tn_executable* made = nullptr;
  const int32_t status =
      device.table().compile(&target, mutant.program.get(), nullptr, &made, &error);
  if (made) device.table().executable_destroy(made);
  expect(status != TN_OK && !made, "compile: expected a malformed program ({}) refused, got TN_OK",
         mutant.change);
}

void malformed_programs(const CheckContext& c) {
  const OpenDevice device = c.open();
  const std::vector<Kernel> kernels = sample_kernels(device);
  constexpr int kMutants = 400, kMostValid = 12;
  Random random(mix(c.seed, 0x6d616c));
  int valid = 0;
  for (int i = 0; i < kMutants; ++i) {
    c.alive();
    const Mutant mutant = mutate_program(kernels[random.below(kernels.size())].build(), random);
    const bool malformed =
        !sdk::verify_program(mutant.program.get(), mutant.program.get()->total_size).empty();
    if (malformed)
      expect_mutant_is_refused(device, mutant);
    else if (valid++ < kMostValid)
      device.compile(*mutant.program.get());  // either answer, but one that `supports` gave
  }
}

/// An op that the device does not claim, if there is one.
std::optional<sdk::Program> unclaimed_program(const OpenDevice& device) {
  for (const tn_opcode op : {TN_OP_COS, TN_OP_EXP, TN_OP_FLOOR, TN_OP_NEG}) {
    if (device.claims(op)) continue;
    sdk::ProgramBuilder b("unclaimed");
    const auto y = b.buffer("y", TN_DTYPE_F32, TN_ACCESS_READ | TN_ACCESS_WRITE);
    const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    const auto x = b.op(TN_OP_TAKE, TN_DTYPE_F32, 1, {y, i});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, i, b.op(op, TN_DTYPE_F32, 1, {x})});
    return b.finish();
  }
  return {};
}

void supports_is_pure(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.computes(), "the device has memory only");
  const tn_target target = device.target();
  std::vector<sdk::Program> programs;
  for (const Kernel& kernel : sample_kernels(device)) programs.push_back(kernel.build());
  if (auto program = unclaimed_program(device)) programs.push_back(std::move(*program));
  for (const sdk::Program& program : programs) {
    const std::vector<uint8_t> before(
        reinterpret_cast<const uint8_t*>(program.get()),
        reinterpret_cast<const uint8_t*>(program.get()) + program.size());
    char reason[256] = {};
    const int32_t first = c.table().supports(&target, program.get(), sizeof reason, reason);
    expect(first >= TN_SUPPORT_NO && first <= TN_SUPPORT_SLOW,
           "supports: expected 0, 1 or 2, got {}", first);
    if (first == TN_SUPPORT_NO)
      expect(reason[0] && strnlen(reason, sizeof reason) < sizeof reason,
             "supports: expected a sentence with a NUL for NO, got none");
    char little[8] = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
    const int32_t second = c.table().supports(&target, program.get(), 4, little);
    expect(little[4] == 'x', "supports: expected at most 4 bytes of reason, got more");
    expect(first == c.table().supports(&target, program.get(), 0, nullptr) && first == second,
           "supports: expected the same answer each time, got another");
    expect(std::memcmp(before.data(), program.get(), before.size()) == 0,
           "supports: expected the program untouched, got it changed");
  }
}

/// Alone: what is wrong here is wrong of the program, and not of when it was compiled.
void known_programs(const CheckContext& c) {
  const OpenDevice device = c.open();
  for (const Kernel& kernel : sample_kernels(device)) {
    c.alive();
    const sdk::Program program = kernel.build();
    if (const CompileAnswer answer = device.compile(*program.get()); answer.executable)
      expect_result(device, kernel, answer.executable.get(), "compiled alone");
  }
}

void compile_at_once(const CheckContext& c) {
  const OpenDevice device = c.open();
  const std::vector<Kernel> kernels = sample_kernels(device);
  std::vector<CompileAnswer> answers(kernels.size());
  constexpr int kThreads = 4;
  at_once(kThreads, [&](int t) {
    for (size_t k = static_cast<size_t>(t); k < kernels.size(); k += kThreads) {
      const sdk::Program program = kernels[k].build();
      answers[k] = device.compile(*program.get());
    }
  });
  for (size_t k = 0; k < kernels.size(); ++k) {
    c.alive();
    if (answers[k].executable)
      expect_result(device, kernels[k], answers[k].executable.get(),
                    "compiled at once with others");
  }
}

void saved_and_loaded(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(can_save(device), "the device saves no executables");
  for (const Kernel& kernel : sample_kernels(device)) {
    c.alive();
    const sdk::Program program = kernel.build();
    CompileAnswer answer = device.compile(*program.get());
    if (!answer.executable) continue;
    const auto bytes = save(device, answer.executable.get());
    const auto expect_loaded = [&](std::span<const uint8_t> saved, const char* how) {
      LoadAnswer loaded = load(device, saved);
      expect(loaded.status == TN_OK, "executable_load: expected TN_OK for what was {}, got {}", how,
             status_text(loaded.status));
      expect_result(device, kernel, loaded.executable.get(), how);
      return std::move(loaded.executable);
    };
    const ExecutableHandle beside = expect_loaded(bytes, "saved and loaded beside itself");
    answer.executable.reset();
    const ExecutableHandle loaded = expect_loaded(bytes, "saved and loaded");
    expect_loaded(save(device, loaded.get()), "saved, loaded, saved and loaded");
    expect_result(device, kernel, beside.get(), "loaded before others were");
  }
}

struct Closes {
  int file;
  ~Closes() {
    if (file >= 0) close(file);
  }
};

/// In another process, with nothing of this one at hand.
void saved_elsewhere(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(can_save(device), "the device saves no executables");
  const auto bytes = save(device, any_kernel(device).executable.get());
  const int file = memfd_create("saved", MFD_CLOEXEC);
  const Closes closes{file};
  need(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
       "no memory for a file");
  IsolatedOptions options;
  options.saved = fmt::format("/proc/{}/fd/{}", getpid(), file);
  run_isolated(c.subject.target, c.alive, options);
}

void damaged_executables(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(can_save(device), "the device saves no executables");
  const Loaded loaded = any_kernel(device);
  const auto bytes = save(device, loaded.executable.get());
  for (const std::string& other : {std::string("x"), std::string(200, '\0'),
                                   std::string("\x7f"
                                               "ELF")})
    expect(load(device, {reinterpret_cast<const uint8_t*>(other.data()), other.size()}).status ==
               TN_ERROR_INCOMPATIBLE,
           "executable_load: expected TN_ERROR_INCOMPATIBLE for bytes that are not its own");
  for (uint64_t i = 0; i < 200; ++i) {
    c.alive();
    expect_damage_is_refused(device, bytes, mix(c.seed, i));
  }
  // The end, and what lies far from the beginning of long ones.
  const CompileAnswer longer = device.compile(*ops_program(2500).get());
  const auto many = longer.executable ? save(device, longer.executable.get()) : bytes;
  for (size_t less = 1; less <= 16; ++less) {
    for (const auto& whole : {bytes, many})
      if (whole.size() > less)
        expect_refused_bytes(device, {whole.begin(), whole.end() - static_cast<ptrdiff_t>(less)},
                             fmt::format("{} bytes of {} cut off", less, whole.size()));
  }
  constexpr size_t kPlaces = 40;
  for (size_t i = 0; i < kPlaces; ++i) {
    c.alive();
    auto turned = many;
    const size_t at = many.size() * i / kPlaces;
    turned[at] ^= 0x10;
    expect_refused_bytes(device, turned, fmt::format("bit 4 of byte {} turned", at));
  }
}

void texts(const CheckContext& c) {
  need(c.table().executable_text, "the plugin has no texts");
  const OpenDevice device = c.open();
  const Loaded loaded = any_kernel(device);
  const CompileAnswer large = device.compile(*ops_program(1000).get());
  for (tn_executable* executable : {loaded.executable.get(), large.executable.get()})
    for (const uint32_t kind : {TN_TEXT_SOURCE, TN_TEXT_ASSEMBLY}) {
      if (!executable) continue;
      c.alive();
      std::string text;
      const tn_sink sink = [](void* user, const void* bytes, size_t size) {
        static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
      };
      const int32_t status = c.table().executable_text(executable, kind, sink, &text, nullptr);
      expect(status == TN_OK || status == TN_ERROR_UNSUPPORTED,
             "executable_text: expected TN_OK or TN_ERROR_UNSUPPORTED, got {}",
             status_text(status));
      expect(status != TN_OK || !text.empty(), "executable_text: expected a text, got none");
    }
}

}  // namespace

std::span<const CheckRow> program_checks() {
  static constexpr CheckRow kRows[] = {
      {"known_programs", known_programs, 28},
      {"malformed_programs", malformed_programs, 25},
      {"supports_is_pure", supports_is_pure, 26},
      {"compile_at_once", compile_at_once, 19},
      {"saved_and_loaded", saved_and_loaded, 31},
      {"saved_elsewhere", saved_elsewhere, 31},
      {"damaged_executables", damaged_executables, 31},
      {"texts", texts, 16},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
