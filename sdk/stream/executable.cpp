// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads modules, saves and loads executables.
#include "sdk/stream/executable.hpp"

#include <cstring>

#include "sdk/backend/saved_executable.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::sdk {
namespace {

constexpr size_t kSections = 5;  // program, source, entry, binary, dynamic shared bytes

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

StreamExecutable::StreamExecutable(Program program, StreamCode code, std::string identity,
                                   Disassemble disassemble, std::shared_ptr<StreamContext> context)
    : HostExecutable(LaunchSignature(program.view())),
      program_(std::move(program)),
      code_(std::move(code)),
      identity_(std::move(identity)),
      disassemble_(std::move(disassemble)),
      context_(std::move(context)) {
  if (context_) load_module();
}

void StreamExecutable::load_module() {
  const ActiveDevice active = context_->activate();
  const StreamApi& api = context_->api();
  context_->check(api.module_load(&module_, code_.binary.data()), "module");
  int status = api.module_function(&function_, module_, code_.entry.c_str());
  const uint32_t shared = code_.dynamic_shared_bytes;
  if (status == 0 && shared && api.function_set_attribute) {
    status =
        api.function_set_attribute(function_, kApiFunctionDynamicShared, static_cast<int>(shared));
  }
  if (status != 0) api.module_unload(module_);
  context_->check(status, "module entry");
}

StreamExecutable::~StreamExecutable() {
  if (!module_) return;
  const ActiveDevice active = context_->activate_to_destroy();
  if (active) context_->api().module_unload(module_);
}

SavedStreamCode unpack_stream_code(std::span<const std::byte> bytes, std::string_view identity,
                                   std::string target) {
  const auto sections = unpack_saved(bytes, identity, kSections);
  SavedStreamCode saved{Program(sections[0].data(), sections[0].size()), {}};
  const Program& program = saved.program;
  if (const std::string why = verify_program(program.get(), program.size()); !why.empty()) {
    throw Failure(TN_ERROR_INCOMPATIBLE, "executable_load: " + why);
  }
  saved.code.source = text_of(sections[1]);
  saved.code.entry = text_of(sections[2]);
  saved.code.target = std::move(target);
  saved.code.binary.assign(sections[3].begin(), sections[3].end());
  std::memcpy(&saved.code.dynamic_shared_bytes, sections[4].data(),
              std::min(sections[4].size(), sizeof saved.code.dynamic_shared_bytes));
  return saved;
}

std::string StreamExecutable::text(tn_text_kind kind) const {
  return kind == TN_TEXT_SOURCE ? code_.source : disassemble_(code_);
}

std::vector<std::byte> StreamExecutable::save() const {
  const std::span<const std::byte> sections[kSections] = {
      program_.view().bytes(), std::as_bytes(std::span(code_.source)),
      std::as_bytes(std::span(code_.entry)), code_.binary,
      std::as_bytes(std::span(&code_.dynamic_shared_bytes, 1))};
  return pack_saved(identity_, sections);
}

ApiFunction* StreamExecutable::function(const StreamContext& context) const {
  if (context_.get() != &context) {
    throw Failure(TN_ERROR_INVALID_ARGUMENT,
                  context_ ? "launch: expected an executable compiled for this device"
                           : "launch: expected an executable compiled for a device, got one for a "
                             "named target");
  }
  return function_;
}

}  // namespace tenon::sdk
