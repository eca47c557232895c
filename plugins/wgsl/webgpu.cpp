// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds wgpu-native, checks its version first, and lists the adapters.
#include "plugins/wgsl/webgpu.hpp"

#include <fmt/format.h>

#include "sdk/backend/per_process.hpp"
#include "sdk/backend/shared_library.hpp"

namespace tenon::wgsl {
namespace {

constexpr uint32_t kVersion = 29;  // of wgpu.h; structs and values differ between versions

std::vector<std::string> names() {
  const char* chosen = secure_getenv("TENON_WEBGPU_LIBRARY");
  if (chosen && *chosen) return {chosen};
  return {"libwgpu_native.so", "libwebgpu_dawn.so"};  // looked for beside the plugin first: RUNPATH
}

/// Reads the functions of a library. Returns "", or why it cannot be used.
std::string read(const sdk::SharedLibrary& from, Library& to) {
  WebGpu& gpu = to.gpu;
#define TENON_WEBGPU_ROW(name) {"wgpu" #name, &gpu.name},
#define TENON_WEBGPU_RELEASE_ROW(name) TENON_WEBGPU_ROW(name##Release)
  const sdk::SymbolRow rows[] = {TENON_WEBGPU(TENON_WEBGPU_ROW)
                                     TENON_WEBGPU_OBJECTS(TENON_WEBGPU_RELEASE_ROW)};
  if (!from) return from.reason();
  if (!load_symbols(from, std::span(rows, 1)).empty())  // as in Dawn
    return fmt::format("{}: expected wgpu-native {}, got a library that states no version",
                       from.name(), kVersion);
  const uint32_t v = gpu.GetVersion();
  to.name = fmt::format("wgpu-native {}.{}.{}.{}", v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255);
  if (v >> 24 != kVersion)
    return fmt::format("{}: expected wgpu-native {}, got {}", from.name(), kVersion, to.name);
  if (std::string missing = load_symbols(from, rows); !missing.empty()) return missing;
  return "";
}

std::unique_ptr<Adapters> list_adapters() {
  auto made = std::make_unique<Adapters>();
  made->reason = library().reason;
  if (!made->reason.empty()) return made;
  const WebGpu& gpu = library().gpu;
  // OpenGL's adapters are not listed; its drivers would be opened all the same, and their handlers
  // of exit() wait for threads that a child made by fork does not have.
  WGPUInstanceExtras extras{};
  extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
  extras.backends = WGPUInstanceBackend_Primary;
  WGPUInstanceDescriptor wanted = WGPU_INSTANCE_DESCRIPTOR_INIT;
  wanted.nextInChain = &extras.chain;
  const WGPUInstance instance = gpu.CreateInstance(&wanted);
  const WGPUInstanceEnumerateAdapterOptions options{nullptr, WGPUInstanceBackend_Primary};
  auto& all = made->handles;
  all.resize(gpu.InstanceEnumerateAdapters(instance, &options, nullptr));
  all.resize(gpu.InstanceEnumerateAdapters(instance, &options, all.data()));
  if (all.empty()) made->reason = library().name + ": lists no adapter";
  return made;
}

}  // namespace

const Library& library() {
  static const Library* const opened = [] {
    auto* made = new Library;
    made->reason = read(sdk::SharedLibrary(names()), *made);
    return made;
  }();
  return *opened;
}

const Adapters& adapters() {
  static sdk::PerProcess<Adapters> listed;
  return listed.get(list_adapters);
}

}  // namespace tenon::wgsl
