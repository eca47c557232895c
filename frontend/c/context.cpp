// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/c/handles.hpp"

using namespace tenon;
using namespace tenon::c;

namespace {

/// Up to the first field that came later; there is none yet.
constexpr uint32_t kOptionsSize = sizeof(tenon_context_options);
constexpr uint32_t kDeviceSize = sizeof(tenon_device);

ContextOptions options_of(const char* call, const tenon_context_options* given_options) {
  ContextOptions out;
  if (given_options == nullptr) return out;
  const auto options = read_struct(call, "options", *given_options, kOptionsSize);
  if (options.devices) out.devices = options.devices;
  if (options.cache_dir) out.cache_dir = options.cache_dir;
  for (uint32_t i = 0; i < options.plugin_count; ++i)
    out.plugins.emplace_back(
        &given(call, "options.plugins", given(call, "options.plugins", options.plugins + i)));
  return out;
}

}  // namespace

tenon_status tenon_context_create(const tenon_context_options* options, tenon_context** out) {
  constexpr auto kCall = "tenon_context_create";
  return guarded([&] {
    given(kCall, "out", out);
    *out = new tenon_context{std::make_shared<Context>(options_of(kCall, options))};
  });
}

void tenon_context_destroy(tenon_context* context) { delete context; }

tenon_status tenon_device_count(tenon_context* context, uint64_t* out) {
  constexpr auto kCall = "tenon_device_count";
  return guarded([&] {
    given(kCall, "out", out) = given(kCall, "context", context).context->device_ids().size();
  });
}

tenon_status tenon_device_id(tenon_context* context, uint64_t number, char* out,
                             uint64_t capacity) {
  constexpr auto kCall = "tenon_device_id";
  return guarded([&] {
    const std::vector<std::string> ids = given(kCall, "context", context).context->device_ids();
    if (number >= ids.size())
      refuse("[{}] expected a number below {}, got {}", kCall, ids.size(), number);
    write_text(kCall, ids[number], out, capacity);
  });
}

tenon_status tenon_device_find(tenon_context* context, const char* id, tenon_device* out) {
  constexpr auto kCall = "tenon_device_find";
  return guarded([&] {
    const DeviceInfo info = given(kCall, "context", context).context->device(id ? id : "");
    tenon_device device{};
    device.flags = TENON_DEVICE_OPEN | (info.compute ? TENON_DEVICE_COMPUTE : 0);
    const auto copy = [](std::string_view text, auto& to) {
      std::memcpy(to, text.data(), std::min(text.size(), sizeof to - 1));
    };
    copy(info.id, device.id);
    copy(info.name, device.name);
    device.bytes_in_use = info.bytes_in_use;
    device.bytes_reserved = info.bytes_reserved;
    write_struct(kCall, "out", device, out, kDeviceSize);
  });
}
