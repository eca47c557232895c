// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saves and loads a compiled program.
#include "plugins/cpu/executable.hpp"

#include <fmt/format.h>

#include <cstring>

#include "plugins/cpu/host_info.hpp"
#include "sdk/backend/saved_executable.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::cpu {
namespace {

/// Identifies the code generator and the target.
std::string fingerprint(const TargetSpec& target) {
  return fmt::format("tenon cpu {}|{}|{}|{}|{}", TENON_VERSION, driver_name(), target.triple,
                     target.cpu, target.features);
}

}  // namespace

CpuExecutable::CpuExecutable(sdk::Program program, TargetSpec target, Object object, bool link)
    : HostExecutable(sdk::LaunchSignature(program.view())),
      program_(std::move(program)),
      target_(std::move(target)),
      object_(std::move(object)) {
  if (link) linked_.emplace(object_.bytes);
}

std::unique_ptr<CpuExecutable> CpuExecutable::compile(const sdk::ProgramView& program,
                                                      const TargetSpec& target, bool link) {
  const auto bytes = program.bytes();
  return std::unique_ptr<CpuExecutable>(new CpuExecutable(
      sdk::Program(bytes.data(), bytes.size()), target, compile_object(program, target), link));
}

std::unique_ptr<CpuExecutable> CpuExecutable::load(std::span<const std::byte> bytes,
                                                   const TargetSpec& target, bool link) {
  const auto sections = sdk::unpack_saved(bytes, fingerprint(target), 3);
  uint64_t scratch_bytes;
  if (sections[0].size() != sizeof scratch_bytes)
    throw sdk::Failure(TN_ERROR_INCOMPATIBLE, "executable_load: expected the scratch bytes");
  std::memcpy(&scratch_bytes, sections[0].data(), sizeof scratch_bytes);
  sdk::Program program = sdk::load_program(sections[1]);
  Object object{{sections[2].begin(), sections[2].end()}, scratch_bytes};
  return std::unique_ptr<CpuExecutable>(
      new CpuExecutable(std::move(program), target, std::move(object), link));
}

std::string CpuExecutable::text(tn_text_kind kind) const {
  switch (kind) {
    case TN_TEXT_SOURCE:
      return compile_ir(program_.view(), target_);
    case TN_TEXT_ASSEMBLY:
      return compile_assembly(program_.view(), target_);
  }
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                     fmt::format("executable_text: expected source or assembly, got {}",
                                 static_cast<unsigned>(kind)));
}

std::vector<std::byte> CpuExecutable::save() const {
  const std::span<const std::byte> sections[] = {
      std::as_bytes(std::span(&object_.scratch_bytes, 1)), program_.view().bytes(),
      std::as_bytes(std::span(object_.bytes))};
  return sdk::pack_saved(fingerprint(target_), sections);
}

}  // namespace tenon::cpu
