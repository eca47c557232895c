// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/plugin_queue.hpp"

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {

void PluginQueue::run_now(const std::vector<tn_command>& commands) {
  check_alive();
  tn_error error = abi_struct<tn_error>();
  check_ended(complete(commands, error), error);
}

std::optional<double> PluginQueue::run_timed(const std::vector<tn_command>& commands,
                                             const tn_timing& timing) {
  check_alive();
  tn_error error = abi_struct<tn_error>();
  const tn_submission submission = submission_of(commands);
  uint64_t nanoseconds = 0;
  int32_t status = TN_OK;
  {
    const std::lock_guard lock(mutex_);  // a device takes one submission at a time
    status = timing.run(device_, &submission, &nanoseconds, &error);
  }
  if (status == TN_ERROR_UNSUPPORTED) return std::nullopt;
  check_ended(status, error);
  return static_cast<double>(nanoseconds) * 1e-9;
}

void PluginQueue::check_ended(int32_t status, const tn_error& error) {
  if (status == TN_ERROR_DEVICE_LOST) {
    const std::lock_guard lock(mutex_);
    failures_.add(submitted_ + 1, submitted_ + 1, status, error);
  }
  check_status(status, error, "submit", owner_);
}

void PluginQueue::check_alive() {
  const std::lock_guard lock(mutex_);
  failures_.throw_lost();
}

bool PluginQueue::wait(uint64_t number, std::string& failure, ErrorKind& kind, bool is_reported) {
  await(number);
  const std::lock_guard lock(mutex_);
  return failures_.has_succeeded(number, submitted_, is_reported, failure, kind);
}

bool PluginQueue::has_failed(uint64_t number) {
  if (failures_.empty()) return false;
  const std::lock_guard lock(mutex_);
  return failures_.covers(number);
}

void PluginQueue::synchronize() {
  await(submitted());
  const std::lock_guard lock(mutex_);
  failures_.throw_pending();
}

uint64_t PluginQueue::submitted() {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

}  // namespace tenon
