// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens libvulkan.so.1 and makes an instance.
#include "plugins/vulkan/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "sdk/helpers/shared_library.hpp"

namespace tenon::vulkan {
namespace {

constexpr char kLayer[] = "VK_LAYER_KHRONOS_validation";

/// Discrete, integrated, virtual, CPU, other; then what names the device.
auto order_of(const Adapter& adapter) {
  constexpr int kRank[] = {4, 1, 0, 2, 3};  // by VkPhysicalDeviceType
  const uint32_t type = adapter.core.properties.deviceType;
  return std::tuple(type < std::size(kRank) ? kRank[type] : 4,
                    std::string(adapter.core.properties.deviceName),
                    std::string(adapter.v11.deviceUUID, adapter.v11.deviceUUID + VK_UUID_SIZE));
}

VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data,
                                       void* user) {
  static_cast<Driver*>(user)->add_message(data->pMessage);
  return VK_FALSE;
}

}  // namespace

Driver::Driver(bool validate) {
  static const std::string kNames[] = {"libvulkan.so.1"};
  static const sdk::SharedLibrary kLibrary{kNames};
  if (!kLibrary) throw sdk::Failure(TN_ERROR_NOT_FOUND, kLibrary.reason());
  PFN_vkGetInstanceProcAddr look_up = nullptr;
  const sdk::SymbolRow rows[] = {{"vkGetInstanceProcAddr", &look_up}};
  if (const std::string why = sdk::load_symbols(kLibrary, rows); !why.empty())
    throw sdk::Failure(TN_ERROR_NOT_FOUND, why);
#define X(name) vk_.name = reinterpret_cast<PFN_vk##name>(look_up(instance_, "vk" #name));
  TENON_VK_GLOBAL(X)
  create_instance(validate);
  TENON_VK_INSTANCE(X)
#undef X
  if (validate) {
    const VkDebugUtilsMessengerCreateInfoEXT info{
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = receive,
        .pUserData = this};
    check(vk_.CreateDebugUtilsMessengerEXT(instance_, &info, nullptr, &messenger_), "messenger");
  }
  list_adapters();
}

Driver::~Driver() {
  if (messenger_) vk_.DestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  vk_.DestroyInstance(instance_, nullptr);
}

void Driver::create_instance(bool validate) {
  uint32_t version = VK_API_VERSION_1_0;
  if (vk_.EnumerateInstanceVersion) vk_.EnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_2)
    throw sdk::Failure(TN_ERROR_NOT_FOUND, "libvulkan.so.1: expected Vulkan 1.2 or later");
  const auto layers = listed<VkLayerProperties>(
      [&](auto* count, auto* out) { return vk_.EnumerateInstanceLayerProperties(count, out); });
  if (validate && std::ranges::none_of(
                      layers, [](const auto& row) { return !std::strcmp(row.layerName, kLayer); }))
    throw sdk::Failure(TN_ERROR_NOT_FOUND, fmt::format("{}: is not installed", kLayer));
  const char* layer = kLayer;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const auto enabled = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  const VkValidationFeaturesEXT features{.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                         .enabledValidationFeatureCount = 1,
                                         .pEnabledValidationFeatures = &enabled};
  const VkApplicationInfo app{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                              .pEngineName = "tenon",
                              .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  .pNext = validate ? &features : nullptr,
                                  .pApplicationInfo = &app,
                                  .enabledLayerCount = validate,
                                  .ppEnabledLayerNames = &layer,
                                  .enabledExtensionCount = validate,
                                  .ppEnabledExtensionNames = &extension};
  const VkResult result = vk_.CreateInstance(&info, nullptr, &instance_);
  if (result < 0)
    throw sdk::Failure(TN_ERROR_NOT_FOUND,
                       fmt::format("libvulkan.so.1: no driver (VkResult {})", int{result}), result);
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
  std::ranges::stable_sort(adapters_, {}, [](const auto& a) { return order_of(*a); });
  if (adapters_.empty() && reason_.empty()) reason_ = "libvulkan.so.1: lists no device";
}

void Driver::add_message(const char* text) {
  const std::lock_guard lock(mutex_);
  messages_.append(messages_.empty() ? "" : "; ").append(text);
}

void Driver::check_messages() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return;
  throw sdk::Failure(TN_ERROR_INTERNAL, "validation: " + std::exchange(messages_, {}));
}

}  // namespace tenon::vulkan
