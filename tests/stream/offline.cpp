// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dlopen, and the functions that need no device.
#include "tests/stream/offline.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace tenon::sdk {
namespace {

void append(void* user, const void* bytes, size_t size) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
}

}  // namespace

OfflinePlugin::OfflinePlugin(const std::string& backend) {
  const std::string path = std::string(TENON_BINARY_DIR) + "/lib/tenon/libtenon_" + backend + ".so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (!library) throw std::runtime_error(dlerror());
  const auto query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
  if (!query) throw std::runtime_error("no tn_plugin_query");
  plugin_ = query(nullptr, 1, TN_ABI_VERSION, &error_);
  if (!plugin_) throw std::runtime_error(error_.message);
}

uint32_t OfflinePlugin::enumerate(std::string& reason) {
  uint32_t count = 0;
  char text[300] = {};
  if (plugin_->device_enumerate(0, 0, nullptr, sizeof text, text, &count, &error_) != TN_OK) {
    throw std::runtime_error(error_.message);
  }
  reason = text;
  return count;
}

tn_target OfflinePlugin::target(const char* name) const {
  tn_target target = TN_INIT(tn_target);
  target.name = name;
  return target;
}

const tn_properties* OfflinePlugin::properties(const char* name) {
  const tn_target to = target(name);
  const tn_properties* out = nullptr;
  return plugin_->properties(&to, &out, &error_) == TN_OK ? out : nullptr;
}

tn_executable* OfflinePlugin::compile(const char* name, const Program& program) {
  const tn_target to = target(name);
  tn_executable* out = nullptr;
  report = TN_INIT(tn_compile_report);
  plugin_->compile(&to, program.get(), &report, &out, &error_);
  return out;
}

bool OfflinePlugin::supports(const char* name, const Program& program) {
  const tn_target to = target(name);
  return plugin_->supports(&to, program.get(), 0, nullptr) != TN_SUPPORT_NO;
}

tn_executable* OfflinePlugin::load(const char* name, const std::string& bytes) {
  const tn_target to = target(name);
  tn_executable* out = nullptr;
  plugin_->executable_load(&to, bytes.data(), bytes.size(), &out, &error_);
  return out;
}

std::string OfflinePlugin::text(tn_executable* executable, tn_text_kind kind) {
  std::string out;
  const int32_t code = plugin_->executable_text(executable, kind, append, &out, &error_);
  if (code != TN_OK) throw std::runtime_error(error_.message);
  return out;
}

std::string OfflinePlugin::save(tn_executable* executable) {
  std::string out;
  if (plugin_->executable_save(executable, append, &out, &error_) != TN_OK) {
    throw std::runtime_error(error_.message);
  }
  return out;
}

}  // namespace tenon::sdk
