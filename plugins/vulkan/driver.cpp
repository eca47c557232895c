// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens libvulkan.so.1 and creates an instance.
#include "plugins/vulkan/driver.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "sdk/backend/shared_library.hpp"

namespace tenon::vulkan {
namespace {

constexpr char kLayer[] = "VK_LAYER_KHRONOS_validation";

[[noreturn]] void not_found(const std::string& reason) {
  throw sdk::Failure(TN_ERROR_NOT_FOUND, reason);
}

/// Sort key: discrete, integrated, virtual, CPU, other; then the ids of the device.
auto order_of(const std::unique_ptr<Adapter>& adapter) {
  constexpr int kRank[] = {4, 1, 0, 2, 3};  // by VkPhysicalDeviceType
  const VkPhysicalDeviceProperties& p = adapter->core.properties;
  return std::tuple(kRank[std::min<uint32_t>(p.deviceType, 4)], std::string(p.deviceName),
                    std::string(adapter->v11.deviceUUID, adapter->v11.deviceUUID + VK_UUID_SIZE));
}

VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data,
                                       void* user) {
  static_cast<sdk::DriverMessages*>(user)->add(data->pMessage);
  return VK_FALSE;
}

}  // namespace

Driver::Driver(bool validate) {
  static const auto& kLibrary = *new sdk::SharedLibrary(
      std::span<const std::string>(std::vector<std::string>{"libvulkan.so.1"}));
  if (!kLibrary) not_found(kLibrary.reason());
  PFN_vkGetInstanceProcAddr look_up = nullptr;
  const sdk::SymbolRow rows[] = {{"vkGetInstanceProcAddr", &look_up}};
  if (const std::string why = sdk::load_symbols(kLibrary, rows); !why.empty()) not_found(why);
#define X(name) vk_.name = reinterpret_cast<PFN_vk##name>(look_up(instance_, "vk" #name));
  TENON_VK_GLOBAL(X)
  create_instance(validate);
  TENON_VK_INSTANCE(X)
#undef X
  constexpr VkFlags kSeverities = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                  VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  constexpr VkFlags kTypes =
      VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  const VkDebugUtilsMessengerCreateInfoEXT info{
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      nullptr,
      0,
      kSeverities,
      kTypes,
      receive,
      &messages_};
  VkDebugUtilsMessengerEXT messenger;
  if (validate)
    check(vk_.CreateDebugUtilsMessengerEXT(instance_, &info, nullptr, &messenger), "messenger");
  list_adapters();
}

void Driver::create_instance(bool validate) {
  uint32_t version = VK_API_VERSION_1_0;
  if (vk_.EnumerateInstanceVersion) vk_.EnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_2) not_found("libvulkan.so.1: expected Vulkan 1.2 or later");
  const auto layers = listed<VkLayerProperties>(
      [&](auto* count, auto* out) { return vk_.EnumerateInstanceLayerProperties(count, out); });
  const auto is_ours = [](const auto& row) { return std::string_view(row.layerName) == kLayer; };
  if (validate && std::ranges::none_of(layers, is_ours))
    not_found(fmt::format("{}: is not installed", kLayer));
  const char* layer = kLayer;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const auto enabled = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  const VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1,
                                         &enabled};
  const VkApplicationInfo app{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                              .pEngineName = "tenon",
                              .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  validate ? &features : nullptr,
                                  0,
                                  &app,
                                  validate,
                                  &layer,
                                  validate,
                                  &extension};
  if (const VkResult result = vk_.CreateInstance(&info, nullptr, &instance_); result < 0)
    not_found(fmt::format("libvulkan.so.1: no driver (VkResult {})", int{result}));
}

void Driver::list_adapters() {
  for (VkPhysicalDevice handle : listed<VkPhysicalDevice>([&](auto*count, auto*out) {
         return vk_.EnumeratePhysicalDevices(instance_, count, out);
       })) {
    auto adapter = std::make_unique<Adapter>(vk_, handle);
    if (const std::string why = adapter->refusal(); !why.empty()) {
      reason_ += (reason_.empty() ? "" : "; ") + why;
    } else {
      adapters_.push_back(std::move(adapter));
    }
  }
  std::ranges::stable_sort(adapters_, {}, order_of);
  if (adapters_.empty() && reason_.empty()) reason_ = "libvulkan.so.1: lists no device";
}

}  // namespace tenon::vulkan
