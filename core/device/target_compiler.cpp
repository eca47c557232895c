// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/target_compiler.hpp"

#include <algorithm>
#include <new>

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/properties.hpp"
#include "core/plugin/status.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Receives bytes from a plugin. Exceptions must not cross plugin frames, so an out-of-memory error
/// is recorded and thrown later.
template <class Bytes>
struct Sink {
  Bytes bytes;
  bool is_full = false;

  static void append(void* user, const void* data, size_t size) {
    auto& sink = *static_cast<Sink*>(user);
    const auto* begin = static_cast<const typename Bytes::value_type*>(data);
    try {
      if (!sink.is_full) sink.bytes.insert(sink.bytes.end(), begin, begin + size);
    } catch (const std::exception&) {
      sink.is_full = true;
    }
  }
  Bytes take() {
    if (is_full) throw std::bad_alloc();
    return std::move(bytes);
  }
};

std::shared_ptr<PluginLibrary> load_backend(const Discovery& found, const std::string& backend) {
  if (const PluginCandidate* candidate = find_backend(found, backend))
    return PluginLibrary::load(*candidate);
  std::string known;
  for (const PluginCandidate& candidate : found.candidates)
    if (!candidate.shadowed) known += (known.empty() ? "" : ", ") + candidate.backend;
  fail(ErrorKind::kEnvironment, "[target] expected one of the backends {}, got \"{}\"",
       known.empty() ? "(none was found)" : known, backend);
}

}  // namespace

CompiledProgram::CompiledProgram(CompiledProgram&& other) noexcept
    : plugin_(other.plugin_),
      who_(std::move(other.who_)),
      handle_(std::exchange(other.handle_, nullptr)),
      report_(other.report_) {}

CompiledProgram::~CompiledProgram() {
  if (handle_) plugin_->executable_destroy(handle_);
}

std::string CompiledProgram::text(tn_text_kind kind) const {
  const char* what = kind == TN_TEXT_SOURCE ? "source" : "assembly";
  Sink<std::string> text;
  tn_error error = abi_struct<tn_error>();
  const int32_t status = plugin_->executable_text
                             ? plugin_->executable_text(handle_, kind, text.append, &text, &error)
                             : static_cast<int32_t>(TN_ERROR_UNSUPPORTED);
  check_status(status, error, "text", fmt::format("{} gives no {} text", who_, what));
  return text.take();
}

std::vector<uint8_t> CompiledProgram::saved() const {
  if (!plugin_->executable_save) return {};
  Sink<std::vector<uint8_t>> bytes;
  tn_error error = abi_struct<tn_error>();
  const int32_t status = plugin_->executable_save(handle_, bytes.append, &bytes, &error);
  if (status == TN_ERROR_UNSUPPORTED) return {};
  check_status(status, error, "save", who_);
  return bytes.take();
}

TargetCompiler::TargetCompiler(Device& device)
    : plugin_(&device.plugin()),
      device_(device.handle()),
      who_(device.id()),
      capabilities_(device.capabilities()) {}

TargetCompiler::TargetCompiler(const Discovery& found, const std::string& backend,
                               const std::string& target)
    : library_(load_backend(found, backend)),
      plugin_(&library_->table()),
      name_(target),
      who_(backend + " " + target),
      path_(library_->path().string()) {
  tn_target wanted = abi_struct<tn_target>();
  wanted.name = name_.c_str();
  tn_error error = abi_struct<tn_error>();
  const tn_properties* properties = nullptr;
  const int32_t status = plugin_->properties(&wanted, &properties, &error);
  if (status == TN_ERROR_NOT_FOUND)
    fail(ErrorKind::kInvalid, "[target] expected a target that {} knows, got \"{}\"{}{}", backend,
         target, error.message[0] ? ": " : "", fixed_string(error.message));
  check_status(status, error, "target", who_);
  const DeviceFacts facts = read_properties(properties, who_);
  capabilities_ = facts.capabilities;
  if (!capabilities_.compute)
    fail(ErrorKind::kInvalid, "[target] expected a target that computes, got {}", who_);
  const std::string missing = check_device_functions(*plugin_, facts.flags);
  if (!missing.empty()) fail(ErrorKind::kEnvironment, "[target] {}: {}", who_, missing);
}

TargetCompiler::~TargetCompiler() = default;

tn_target TargetCompiler::target() const {
  tn_target target = abi_struct<tn_target>();
  target.device = device_;
  target.name = device_ ? nullptr : name_.c_str();
  return target;
}

tn_support TargetCompiler::supports(const tn_program& program, std::string& reason) const {
  const tn_target wanted = target();
  char text[512] = {};
  const int32_t answer = plugin_->supports(&wanted, &program, sizeof text, text);
  reason = text[0] ? fixed_string(text) : "no reason was given";
  return static_cast<tn_support>(answer);
}

CompiledProgram TargetCompiler::compile(const tn_program& program) const {
  std::string reason;
  if (supports(program, reason) == TN_SUPPORT_NO)
    fail(ErrorKind::kUnsupported, "[compile] {}: kernel {} is refused: {}", who_,
         reinterpret_cast<const char*>(&program) + program.name, reason);
  return compile_unasked(program);
}

CompiledProgram TargetCompiler::compile_unasked(const tn_program& program) const {
  const tn_target wanted = target();
  tn_compile_report report = abi_struct<tn_compile_report>();
  tn_error error = abi_struct<tn_error>();
  tn_executable* handle = nullptr;
  const char* name = reinterpret_cast<const char*>(&program) + program.name;
  check_status(plugin_->compile(&wanted, &program, &report, &handle, &error), error, "compile",
               fmt::format("{}: kernel {}", who_, name));
  return CompiledProgram(*plugin_, who_, handle, report);
}

}  // namespace tenon
