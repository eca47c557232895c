// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built WGSL plugin (or another) through its table: device 0, and bytes to and from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tenon/plugin.h"

namespace tenon::wgsl_test {

using Bytes = std::vector<std::byte>;

/// A status that a call answered, with its message.
struct Failed {
  int32_t code;
  std::string message;
};

/// Loads a plugin; throws std::runtime_error.
const tn_plugin& load_plugin(const std::string& path);
/// The plugin of this build.
const tn_plugin& plugin();
/// Empty if there is a device, else why not.
std::string no_device();

/// Frees itself.
using Memory = std::unique_ptr<tn_memory, void (*)(tn_memory*)>;
using Executable = std::unique_ptr<tn_executable, void (*)(tn_executable*)>;

/// Functions throw Failed.
class Device {
 public:
  explicit Device(const tn_plugin& plugin = wgsl_test::plugin(), uint32_t index = 0);
  ~Device();
  Device(const Device&) = delete;

  tn_device* get() const { return device_; }
  const tn_properties& properties() const;
  Memory allocate(uint32_t space, uint64_t size) const;
  Executable compile(const sdk::Program& program) const;
  Bytes save(const Executable& executable) const;
  Executable load(std::span<const std::byte> bytes) const;

  /// The first memory space that the host sees.
  uint32_t host_space() const;
  /// Of memory of space 0, through memory of that space.
  void write(tn_memory* to, uint64_t offset, std::span<const std::byte> bytes) const;
  Bytes read(tn_memory* from, uint64_t offset, uint64_t size) const;
  void submit(std::span<const tn_command> commands) const;
  /// One launch on buffers of space 0 that are written before and read after.
  void run(const Executable& executable, const sdk::Program& program, uint32_t groups,
           std::initializer_list<Bytes*> buffers,
           std::initializer_list<uint64_t> scalars = {}) const;
  void check(int32_t status) const;

 private:
  const tn_plugin& plugin_;
  tn_device* device_ = nullptr;
  mutable tn_error error_ = TN_INIT(tn_error);
};

tn_command copy_command(tn_memory* from, uint64_t from_offset, tn_memory* to, uint64_t to_offset,
                        uint64_t size);
tn_command fill_command(tn_memory* to, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t pattern_size);
tn_command launch_command(tn_executable* executable, const sdk::Program& program, uint32_t groups,
                          std::span<const tn_argument> arguments);
tn_argument buffer_argument(tn_memory* memory, uint64_t offset, uint64_t size);

/// y[i] = x[i] * 2 + n for i < count.
sdk::Program scaled_program(uint32_t threads = 64);
Bytes floats(std::initializer_list<float> values);
/// Bytes that differ from their neighbours.
Bytes counting(size_t size, unsigned first = 1);

}  // namespace tenon::wgsl_test
