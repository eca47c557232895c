// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base of queues: numbers of submissions, and which failed.
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
  bool wait(uint64_t number, std::string& failure, ErrorKind& kind, bool is_reported) final;
  bool has_failed(uint64_t number) final;
  void synchronize() final;
  uint64_t submitted() final;

 protected:
  PluginQueue(const tn_plugin& plugin, tn_device* device, const std::string& owner)
      : plugin_(plugin), device_(device), owner_(owner), failures_(owner) {}

  /// Waits until the submission has ended, failed or not.
  virtual void await(uint64_t number) = 0;
  /// run_now() without the handling of a failure.
  virtual int32_t complete(const std::vector<tn_command>& commands, tn_error& error) = 0;

  /// Throws the failure of commands that ran without a number.
  void check_ended(int32_t status, const tn_error& error);

  const tn_plugin& plugin_;
  tn_device* device_;
  const std::string owner_;
  std::mutex mutex_;  ///< guards the members below
  FailureLog failures_;
  uint64_t submitted_ = 0;
};

}  // namespace tenon
