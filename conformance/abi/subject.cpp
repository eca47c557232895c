// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/subject.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "conformance/abi/call_watch.hpp"
#include "core/device/selector.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/discovery.hpp"
#include "core/plugin/environment.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/status.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi {
namespace {

PluginCandidate find_plugin(const Target& target, const std::string& backend) {
  DiscoveryOptions options;
  if (target.plugin) options.plugins.push_back(*target.plugin);
  options.env_plugins = environment("TENON_PLUGINS");
  options.env_plugin_path = environment("TENON_PLUGIN_PATH");
  for (const PluginCandidate& candidate : discover_plugins(options).candidates)
    if (candidate.backend == backend && candidate.serves()) return candidate;
  fail(ErrorKind::kEnvironment, "[api] expected a plugin for the backend {}, got none", backend);
}

/// "key=value,key": what device_open takes, from a term's options.
std::string plugin_options(const SelectorTerm& term) {
  std::string text;
  const auto add = [&](const std::string& key, const std::string& value) {
    text += (text.empty() ? "" : ",") + (value.empty() ? key : key + "=" + value);
  };
  for (const SelectorDevice& device : term.devices)
    if (device.kind == SelectorDevice::Kind::kPath) add("path", device.text);
  for (const auto& [key, value] : term.options)
    if (key != "optional" && key != "noprobe" && key != "pool") add(key, value);
  return text;
}

const char* kind_name(uint32_t kind) {
  constexpr const char* kNames[] = {"", "cpu", "gpu", "accelerator", "storage"};
  return kind < std::size(kNames) ? kNames[kind] : "";
}

}  // namespace

Subject::Subject(const Target& from, const tn_host& host) : target(from) {
  const std::vector<SelectorTerm> terms = parse_selector(target.backend);
  TN_REQUIRE(terms.size() == 1 && !terms[0].negative, "[api] expected one backend, got \"{}\"",
             target.backend);
  const SelectorTerm& term = terms[0];
  backend = term.backend;
  options = plugin_options(term);
  path = find_plugin(target, backend).path;
  // The reason is the loader's word; a plugin stays loaded for ever.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(ErrorKind::kEnvironment, "[api] {}: {}", path.string(), dlerror());
  query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
  if (!query)
    fail(ErrorKind::kEnvironment, "[api] {}: no " TN_PLUGIN_QUERY " in it", path.string());
  tn_error error = abi_struct<tn_error>();
  raw = query(&host, 1, TN_ABI_VERSION, &error);
  if (!raw) fail(ErrorKind::kEnvironment, "[api] {}: {}", path.string(), error.message);
  if (const std::string why = check_plugin_table(raw, backend); !why.empty())
    fail(ErrorKind::kEnvironment, "[api] {}: {}", path.string(), why);
  plain = abi_read(raw);
  table = watched(plain);
  check_status(table.device_enumerate(0, 0, nullptr, 0, nullptr, &devices, &error), error,
               "enumerate", backend);
  std::vector<tn_device_info> infos(devices, abi_struct<tn_device_info>());
  if (devices > 0)
    check_status(table.device_enumerate(devices, sizeof(tn_device_info), infos.data(), 0, nullptr,
                                        &devices, &error),
                 error, "enumerate", backend);
  for (const SelectorDevice& wanted : term.devices) {
    if (wanted.kind == SelectorDevice::Kind::kIndex) index = static_cast<uint32_t>(wanted.index);
    if (wanted.kind != SelectorDevice::Kind::kKind) continue;
    while (index < devices && wanted.text != kind_name(infos[index].kind)) ++index;
  }
  if (index >= devices)
    fail(ErrorKind::kEnvironment, "[api] expected a device {}, got {} devices", target.backend,
         devices);
}

bool is_same(const tn_device_info& a, const tn_device_info& b) {
  return a.kind == b.kind && std::ranges::equal(a.uuid, b.uuid) &&
         fixed_string(a.name) == fixed_string(b.name) &&
         fixed_string(a.driver) == fixed_string(b.driver) &&
         fixed_string(a.target) == fixed_string(b.target);
}

}  // namespace tenon::conformance::abi
