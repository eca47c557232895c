// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles programs with a plugin and returns source or assembly: for an open device, or for a
// target known only by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device/device.hpp"
#include "core/ir/capabilities.hpp"
#include "core/plugin/discovery.hpp"

namespace tenon {

class PluginLibrary;

/// One compiled program; owns the plugin's executable.
class CompiledProgram {
 public:
  CompiledProgram(const tn_plugin& plugin, std::string who, tn_executable* handle,
                  const tn_compile_report& report)
      : plugin_(&plugin), who_(std::move(who)), handle_(handle), report_(report) {}
  ~CompiledProgram();
  CompiledProgram(CompiledProgram&& other) noexcept;
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  const tn_compile_report& report() const { return report_; }
  /// The plugin's executable, for a new owner.
  tn_executable* release() { return std::exchange(handle_, nullptr); }
  /// Source or assembly; throws kUnsupported if the plugin gives none.
  std::string text(tn_text_kind kind) const;
  /// The bytes that the plugin saves for a cache; empty if it saves nothing.
  std::vector<uint8_t> saved() const;

 private:
  const tn_plugin* plugin_;
  std::string who_;
  tn_executable* handle_;
  tn_compile_report report_;
};

class TargetCompiler {
 public:
  explicit TargetCompiler(Device& device);
  /// Loads the plugin among `found` that serves the backend. Throws kEnvironment if there is none,
  /// and kInvalid if it does not know the target.
  TargetCompiler(const Discovery& found, const std::string& backend, const std::string& target);
  ~TargetCompiler();

  const std::string& who() const { return who_; }  ///< "cpu:0", "cuda sm_90a"
  const std::string& plugin_path() const { return path_; }
  const Capabilities& capabilities() const { return capabilities_; }
  /// The plugin's answer. `reason` gets its explanation unless the answer is yes.
  tn_support supports(const tn_program& program, std::string& reason) const;
  /// Throws kUnsupported with the reason if the plugin does not support it, else its error.
  CompiledProgram compile(const tn_program& program) const;
  /// Compiles without a check for support.
  CompiledProgram compile_unasked(const tn_program& program) const;

 private:
  tn_target target() const;

  std::shared_ptr<PluginLibrary> library_;  ///< of a named target
  const tn_plugin* plugin_;
  tn_device* device_ = nullptr;
  std::string name_, who_, path_;
  Capabilities capabilities_;
};

}  // namespace tenon
