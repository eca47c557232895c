// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin without its hardware: what it says of devices, and what it compiles for targets by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

class OfflinePlugin {
 public:
  /// Opens libtenon_<backend>.so of this build; throws std::runtime_error.
  explicit OfflinePlugin(const std::string& backend);

  const tn_plugin& table() const { return plugin_; }
  /// Null if there is no such target; then error() says why.
  const tn_properties* properties(const char* target);
  /// Null if it fails; then error() says why.
  tn_executable* compile(const char* target, const Program& program);
  bool supports(const char* target, const Program& program);
  tn_executable* load(const char* target, const std::string& bytes);
  std::string text(tn_executable* executable, tn_text_kind kind);
  std::string save(tn_executable* executable);
  void destroy(tn_executable* executable) { plugin_.executable_destroy(executable); }
  std::string error() const { return error_.message; }
  int32_t code() const { return error_.code; }
  tn_compile_report report = TN_INIT(tn_compile_report);

 private:
  const tn_plugin& plugin_;
  tn_error error_ = TN_INIT(tn_error);
};

/// What every plugin of stream devices is checked for where its compiler is there, as Catch2
/// assertions; skips where it is not.
struct OfflineExpectation {
  std::string first, second;         ///< two targets
  std::vector<const char*> unknown;  ///< targets that there are not
  std::string entry_mark;            ///< "{}" is the kernel: what is in the binary
  std::string assembly_mark;         ///< and in the assembly
};
void check_targets(OfflinePlugin& plugin, const OfflineExpectation& expected);
void check_samples(OfflinePlugin& plugin, const OfflineExpectation& expected);
void check_threads(OfflinePlugin& plugin, const OfflineExpectation& expected);
void check_extensions(OfflinePlugin& plugin);
/// Opens the first device, on a fake driver, and calls everything that needs it; `check` comes
/// after each call.
void use_device(OfflinePlugin& plugin, bool compiles,
                const std::function<void(const char*)>& check);

}  // namespace tenon::sdk
