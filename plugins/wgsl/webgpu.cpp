// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds wgpu-native, asks its version before anything else, and lists the adapters.
#include "plugins/wgsl/webgpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "sdk/helpers/shared_library.hpp"

namespace tenon::wgsl {
namespace {

constexpr uint32_t kVersion = 29;  // of wgpu.h: structs and values of other versions differ
constexpr WGPUInstanceBackend kBackends = WGPUInstanceBackend_Primary;

std::vector<std::string> candidates() {
  const char* chosen = secure_getenv("TENON_WEBGPU_LIBRARY");
  if (chosen && *chosen) return {chosen};
  Dl_info plugin;
  std::string beside = "libwgpu_native.so";
  if (dladdr(reinterpret_cast<const void*>(&candidates), &plugin)) {
    const std::string file = plugin.dli_fname;
    beside = file.substr(0, file.rfind('/') + 1) + beside;
  }
  return {beside, "libwgpu_native.so", "libwebgpu_dawn.so"};
}

/// Empty, or why the library cannot be used.
std::string read(const sdk::SharedLibrary& from, Library& to) {
  WebGpu& gpu = to.gpu;
#define TENON_WEBGPU_ROW(name) {"wgpu" #name, &gpu.name},
  const sdk::SymbolRow rows[] = {TENON_WEBGPU(TENON_WEBGPU_ROW)};
#undef TENON_WEBGPU_ROW
  if (!from) return from.reason();
  if (!load_symbols(from, std::span(rows, 1)).empty())  // as in Dawn
    return fmt::format("{}: expected wgpu-native {}, got a library that states no version",
                       from.name(), kVersion);
  const uint32_t v = gpu.GetVersion();
  to.name = fmt::format("wgpu-native {}.{}.{}.{}", v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255);
  if (v >> 24 != kVersion)
    return fmt::format("{}: expected wgpu-native {}, got {}", from.name(), kVersion, to.name);
  if (std::string missing = load_symbols(from, rows); !missing.empty()) return missing;
  const WGPUInstance instance = gpu.CreateInstance(nullptr);
  const WGPUInstanceEnumerateAdapterOptions options{nullptr, kBackends};
  to.adapters.resize(gpu.InstanceEnumerateAdapters(instance, &options, nullptr));
  to.adapters.resize(gpu.InstanceEnumerateAdapters(instance, &options, to.adapters.data()));
  return to.adapters.empty() ? from.name() + ": lists no adapter" : "";
}

}  // namespace

const Library& library() {
  static const Library* const opened = [] {
    auto* made = new Library;
    for (const std::string& name : candidates()) {
      const std::string why = read(sdk::SharedLibrary(std::span(&name, 1)), *made);
      if (why.empty()) break;
      made->reason += (made->reason.empty() ? "" : "; ") + why;
    }
    return made;
  }();
  return *opened;
}

}  // namespace tenon::wgsl
