// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loader's library and one instance of Vulkan, with the validation layer where it is wanted.
#pragma once

#include <memory>

#include "plugins/vulkan/adapter.hpp"
#include "sdk/backend/driver_messages.hpp"

namespace tenon::vulkan {

/// Never destroyed: drivers run threads of their own.
class Driver {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason where there is no loader, instance or layer.
  explicit Driver(bool validate);
  Driver(const Driver&) = delete;

  const Functions& functions() const { return vk_; }
  /// Those that can be used, in an order that is the same on every call.
  const std::vector<std::unique_ptr<Adapter>>& adapters() const { return adapters_; }
  /// Why others cannot be used, or there are none.
  const std::string& reason() const { return reason_; }
  /// Throws TN_ERROR_INTERNAL with what the validation layer has said since the last call.
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
