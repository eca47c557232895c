// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Vulkan loader and one instance, with the validation layer on request.
#pragma once

#include <memory>

#include "plugins/vulkan/adapter.hpp"
#include "sdk/backend/driver_messages.hpp"

namespace tenon::vulkan {

/// Never destroyed, as drivers run threads.
class Driver {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason if there is no loader, instance or layer.
  explicit Driver(bool validate);
  Driver(const Driver&) = delete;

  const Functions& functions() const { return vk_; }
  /// Usable adapters, in the same order on every call.
  const std::vector<std::unique_ptr<Adapter>>& adapters() const { return adapters_; }
  /// Why other adapters cannot be used, or why there are none.
  const std::string& reason() const { return reason_; }
  /// Throws TN_ERROR_INTERNAL with messages of the validation layer since the last call.
  void check_messages() { messages_.check("validation"); }

 private:
  void create_instance(bool validate);
  void list_adapters();

  Functions vk_;
  VkInstance instance_ = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<Adapter>> adapters_;
  std::string reason_;
  sdk::DriverMessages messages_;
};

}  // namespace tenon::vulkan
