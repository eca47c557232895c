// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of kernels that ran alone, and the table of them (TENON_PROFILE).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "core/runtime/kernel_work.hpp"
#include "tenon/profile.hpp"

namespace tenon {

/// Thread-safe.
class KernelTimes {
 public:
  struct Launch {
    const std::string& graph;
    const std::string& kernel;
    const std::string& device;
    const KernelWork& work;
    double seconds;
    bool by_device;  ///< by the device's clock, not the host's
  };
  void add(const Launch& launch);

  /// True for the first call with a device: that caller must set the rates.
  bool asks_for_rates(const std::string& device);
  void set_rates(const DeviceRates& rates);

  KernelProfile profile() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  ///< graph, kernel, device
  mutable std::mutex mutex_;
  std::map<Key, KernelTime> kernels_;
  std::map<std::string, DeviceRates> rates_;
};

}  // namespace tenon
