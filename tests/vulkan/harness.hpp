// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens the built Vulkan plugin through the ABI. Tests run where there is a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tenon/plugin.h"

namespace tenon::vulkan_test {

/// The plugin's table; loaded once. Throws std::runtime_error.
const tn_plugin& plugin();
/// Throws std::runtime_error with the plugin's message unless `status` is TN_OK.
void require_ok(int32_t status, const tn_error& error);
/// Number of devices; `reason` gets why there are none.
uint32_t device_count(std::string& reason);
void append_text(void* user, const void* bytes, size_t size);

class Timeline {
 public:
  Timeline(tn_device* device, uint64_t value);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  tn_timeline* get() const { return handle_; }
  tn_point at(uint64_t value) const { return {handle_, value}; }
  /// The status; the message goes to `message`.
  int32_t wait(uint64_t value, uint64_t timeout_ns = UINT64_MAX) const;
  int32_t query(uint64_t& value) const;
  int32_t signal(uint64_t value) const;
  mutable std::string message;

 private:
  tn_timeline* handle_ = nullptr;
};

class Memory {
 public:
  Memory(tn_device* device, uint64_t size, uint32_t space = 0);
  ~Memory();
  Memory(const Memory&) = delete;
  tn_memory* get() const { return handle_; }
  std::vector<uint8_t> read(uint64_t offset, uint64_t size) const;
  void write(uint64_t offset, std::span<const uint8_t> bytes) const;

 private:
  tn_memory* handle_ = nullptr;
};

class Device {
 public:
  explicit Device(const char* options = nullptr);
  ~Device();
  Device(const Device&) = delete;
  tn_device* get() const { return handle_; }
  tn_target target() const;
  const tn_properties& properties() const;
  tn_executable* compile(const sdk::Program& program) const;
  int32_t submit(std::span<const tn_command> commands, std::span<const tn_point> waits,
                 std::span<const tn_point> signals, std::string* message = nullptr) const;
  /// Submits and waits; throws what went wrong.
  void run(std::span<const tn_command> commands) const;

 private:
  tn_device* handle_ = nullptr;
};

/// One device with default options for all tests; skips the test where there is none.
const Device& shared_device();

tn_command launch(tn_executable* executable, uint32_t grid, uint32_t block,
                  std::span<const tn_argument> arguments);
tn_command copy(const Memory& to, uint64_t to_offset, const Memory& from, uint64_t from_offset,
                uint64_t size);
tn_command fill(const Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
                uint32_t pattern_size);
tn_argument buffer(const Memory& memory, uint64_t offset, uint64_t size);
tn_argument scalar(uint64_t bits);

/// out[i] = in[i] + add, i32, `threads` a workgroup, for count elements; `add` is a SCALAR.
sdk::Program add_program(uint64_t count, uint32_t threads);

}  // namespace tenon::vulkan_test
