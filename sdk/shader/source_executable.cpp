// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/shader/source_executable.hpp"

#include "sdk/backend/saved_executable.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/render/c_printer.hpp"

namespace tenon::sdk {

SourceExecutable::SourceExecutable(Program made, const Device* device, const Dialect& dialect,
                                   std::string identity)
    : ShaderExecutable(std::move(made), device),
      source_(print_source(program(), dialect)),
      identity_(std::move(identity)) {}

std::string SourceExecutable::text(tn_text_kind kind) const {
  if (kind == TN_TEXT_SOURCE) return source_;
  throw Failure(TN_ERROR_UNSUPPORTED, "executable_text: expected the source, got assembly");
}

std::vector<std::byte> SourceExecutable::save() const {
  const std::vector<std::byte> code = binary();
  const std::span<const std::byte> sections[] = {program().bytes(), code};
  return pack_saved(identity_, sections);
}

SourceExecutable::Saved SourceExecutable::saved(std::span<const std::byte> bytes,
                                                std::string_view identity) {
  const auto sections = unpack_saved(bytes, identity, 2);
  return {load_program(sections[0]), {sections[1].begin(), sections[1].end()}};
}

}  // namespace tenon::sdk
