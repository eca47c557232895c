// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled program, saved and loaded.
#include "plugins/cpu/executable.hpp"

#include <fmt/format.h>

#include <cstring>

#include "plugins/cpu/checksum.hpp"
#include "plugins/cpu/host_info.hpp"
#include "sdk/helpers/verify_program.hpp"

namespace tenon::cpu {
namespace {

constexpr char kMagic[8] = {'T', 'N', 'C', 'P', 'U', 'E', 'X', '1'};

/// In front of the saved bytes; then fingerprint, program and object.
struct SavedHeader {
  char magic[8];
  uint64_t checksum;  // of all that follows this field
  uint64_t fingerprint_bytes, program_bytes, object_bytes;
  uint64_t scratch_bytes;
};

/// Of what generated the code and what it is for.
std::string fingerprint(const TargetSpec& target) {
  static const std::string kBuild = build_id();
  return fmt::format("tenon cpu {} {}|{}|{}|{}|{}", TENON_VERSION, kBuild, driver_name(),
                     target.triple, target.cpu, target.features);
}

uint64_t saved_checksum(std::span<const std::byte> bytes) {
  constexpr size_t kStart = offsetof(SavedHeader, fingerprint_bytes);
  return checksum(bytes.data() + kStart, bytes.size() - kStart);
}

[[noreturn]] void incompatible(const std::string& why) {
  throw sdk::Failure(TN_ERROR_INCOMPATIBLE, "executable_load: " + why);
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
  SavedHeader header;
  if (bytes.size() < sizeof header) incompatible("expected a saved executable, got fewer bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    incompatible("expected bytes saved by the cpu backend, got others");
  const uint64_t rest = bytes.size() - sizeof header;
  if (header.fingerprint_bytes > rest || header.program_bytes > rest - header.fingerprint_bytes ||
      header.object_bytes != rest - header.fingerprint_bytes - header.program_bytes)
    incompatible("expected whole bytes, got them cut or extended");
  if (header.checksum != saved_checksum(bytes))
    incompatible("expected the bytes that were saved, got damaged ones");
  const std::byte* at = bytes.data() + sizeof header;
  const std::string_view made_by(reinterpret_cast<const char*>(at), header.fingerprint_bytes);
  if (const std::string ours = fingerprint(target); made_by != ours)
    incompatible(fmt::format("expected {:.180}, got {:.180}", ours, made_by));
  at += header.fingerprint_bytes;
  sdk::Program program(at, header.program_bytes);
  if (const std::string why = sdk::verify_program(program.get(), program.size()); !why.empty())
    incompatible(why);
  at += header.program_bytes;
  Object object{{at, at + header.object_bytes}, header.scratch_bytes};
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
  const std::string made_by = fingerprint(target_);
  SavedHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.fingerprint_bytes = made_by.size();
  header.program_bytes = program_.size();
  header.object_bytes = object_.bytes.size();
  header.scratch_bytes = object_.scratch_bytes;
  std::vector<std::byte> bytes;
  bytes.reserve(sizeof header + made_by.size() + program_.size() + object_.bytes.size());
  auto append = [&](const void* from, size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + size);
  };
  append(&header, sizeof header);
  append(made_by.data(), made_by.size());
  append(program_.get(), program_.size());
  append(object_.bytes.data(), object_.bytes.size());
  header.checksum = saved_checksum(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace tenon::cpu
