// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Default implementations of the virtual functions.
#include "sdk/backend/backend.hpp"

namespace tenon::sdk {

void* Memory::map(uint64_t, uint64_t) {
  throw Failure(TN_ERROR_UNSUPPORTED, "memory_map: expected memory that the host sees");
}

std::string Executable::text(tn_text_kind) const {
  throw Failure(TN_ERROR_UNSUPPORTED, "executable_text: this backend has none");
}

std::vector<std::byte> Executable::save() const {
  throw Failure(TN_ERROR_UNSUPPORTED, "executable_save: this backend saves none");
}

std::unique_ptr<Memory> Device::import_host(uint32_t, void*, uint64_t) {
  throw Failure(TN_ERROR_UNSUPPORTED, "memory_import: this backend takes no host memory");
}

std::unique_ptr<Timeline> Device::make_timeline(uint64_t) {
  throw Failure(TN_ERROR_UNSUPPORTED, "timeline_create: this backend is synchronous");
}

const tn_properties* Backend::target(std::string_view) { return nullptr; }

tn_support Backend::supports(const Target&, const ProgramView&, std::string&) {
  return TN_SUPPORT_YES;
}

std::unique_ptr<Executable> Backend::compile(const Target&, const ProgramView&,
                                             tn_compile_report&) {
  throw Failure(TN_ERROR_UNSUPPORTED, "compile: this backend holds memory only");
}

std::unique_ptr<Executable> Backend::load(const Target&, std::span<const std::byte>) {
  throw Failure(TN_ERROR_UNSUPPORTED, "executable_load: this backend saves none");
}

const void* Backend::extension(std::string_view) { return nullptr; }

void Backend::log(tn_log_level level, const std::string& message) const {
  if (!host_) return;
  const auto write = field_or_zero(host_, &tn_host::log);
  if (write) write(field_or_zero(host_, &tn_host::user), level, message.c_str());
}

}  // namespace tenon::sdk
