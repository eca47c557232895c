// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every queue of a plugin's device keeps: numbers, and which of them failed.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "core/device/queue.hpp"

namespace tenon {

class PluginQueue : public Queue {
 public:
  void run_now(const std::vector<tn_command>& commands) final;
  std::optional<double> run_timed(const std::vector<tn_command>& commands,
                                  const tn_timing& timing) final;
  void check_alive() final;
  bool wait(uint64_t number, std::string& failure, ErrorKind& kind, bool told) final;
  bool has_failed(uint64_t number) final;
  void synchronize() final;
  uint64_t submitted() final;

 protected:
  PluginQueue(const tn_plugin& plugin, tn_device* device, const std::string& owner)
      : plugin_(plugin), device_(device), owner_(owner), failures_(owner) {}

  /// Until the number has ended, well or not.
  virtual void await(uint64_t number) = 0;
  /// run_now(), without what becomes of a failure.
  virtual int32_t complete(const std::vector<tn_command>& commands, tn_error& error) = 0;

  /// Throws the failure of what ran without a number.
  void check_ended(int32_t status, const tn_error& error);

  const tn_plugin& plugin_;
  tn_device* device_;
  const std::string owner_;
  std::mutex mutex_;  ///< over what follows
  FailureLog failures_;
  uint64_t submitted_ = 0;
};

}  // namespace tenon
