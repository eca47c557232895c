// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/spirv/executable.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sdk/backend/saved_executable.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/spirv/compiler.hpp"

namespace tenon::sdk {
namespace {

constexpr size_t kSections = 3;  // program, words, driver_data

std::string full_identity(std::string_view identity, const SpirvTarget& target) {
  return fmt::format("{}|{}", identity, target.name());
}

}  // namespace

SpirvCode compile_spirv(const ProgramView& program, const SpirvTarget& target) {
  return {Program(program), target, compile_glsl(print_glsl(program, target.glsl_options())), {}};
}

SpirvCode load_spirv(std::span<const std::byte> bytes, const SpirvTarget& target,
                     std::string_view identity) {
  const auto sections = unpack_saved(bytes, full_identity(identity, target), kSections);
  SpirvCode code{load_program(sections[0]), target, {}, {}};
  code.words.resize(sections[1].size() / sizeof(uint32_t));
  std::memcpy(code.words.data(), sections[1].data(), code.words.size() * sizeof(uint32_t));
  code.driver_data.assign(sections[2].begin(), sections[2].end());
  return code;
}

SpirvExecutable::SpirvExecutable(const SpirvCode& code, const Device* device, std::string identity)
    : ShaderExecutable(code.program, device),
      target_(code.target),
      words_(code.words),
      identity_(std::move(identity)) {}

std::string SpirvExecutable::text(tn_text_kind kind) const {
  return kind == TN_TEXT_SOURCE ? print_glsl(program(), target_.glsl_options())
                                : disassemble(words_);
}

std::vector<std::byte> SpirvExecutable::save() const {
  const std::vector<std::byte> data = driver_data();
  const std::span<const std::byte> sections[kSections] = {program().bytes(),
                                                          std::as_bytes(std::span(words_)), data};
  return pack_saved(full_identity(identity_, target_), sections);
}

}  // namespace tenon::sdk
