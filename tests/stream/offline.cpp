// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/stream/offline.hpp"

#include "tests/plugin/device.hpp"

namespace tenon::sdk {

OfflinePlugin::OfflinePlugin(const std::string& backend)
    : plugin_(plugin_test::load_plugin(TENON_BINARY_DIR "/lib/tenon/libtenon_" + backend + ".so")) {
}

const tn_properties* OfflinePlugin::properties(const char* name) {
  const tn_target to = plugin_test::named_target(name);
  const tn_properties* out = nullptr;
  return plugin_.properties(&to, &out, &error_) == TN_OK ? out : nullptr;
}

tn_executable* OfflinePlugin::compile(const char* name, const Program& program) {
  const tn_target to = plugin_test::named_target(name);
  tn_executable* out = nullptr;
  report = TN_INIT(tn_compile_report);
  plugin_.compile(&to, program.get(), &report, &out, &error_);
  return out;
}

bool OfflinePlugin::supports(const char* name, const Program& program) {
  const tn_target to = plugin_test::named_target(name);
  return plugin_.supports(&to, program.get(), 0, nullptr) != TN_SUPPORT_NO;
}

tn_executable* OfflinePlugin::load(const char* name, const std::string& bytes) {
  const tn_target to = plugin_test::named_target(name);
  tn_executable* out = nullptr;
  plugin_.executable_load(&to, bytes.data(), bytes.size(), &out, &error_);
  return out;
}

std::string OfflinePlugin::text(tn_executable* executable, tn_text_kind kind) {
  std::string out;
  const int32_t code =
      plugin_.executable_text(executable, kind, plugin_test::append_text, &out, &error_);
  if (code != TN_OK) throw std::runtime_error(error_.message);
  return out;
}

std::string OfflinePlugin::save(tn_executable* executable) {
  std::string out;
  if (plugin_.executable_save(executable, plugin_test::append_text, &out, &error_) != TN_OK) {
    throw std::runtime_error(error_.message);
  }
  return out;
}

}  // namespace tenon::sdk
