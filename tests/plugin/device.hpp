// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fixture of tests that call a plugin through its table: a device, and memory, executables and
// timelines of it that free themselves and must go before it.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "sdk/program/command.hpp"
#include "tenon/plugin.h"

namespace tenon::plugin_test {

using Bytes = std::vector<unsigned char>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A call that did not answer TN_OK. what() is the plugin's message.
struct CallFailed : std::runtime_error {
  CallFailed(int32_t code, const std::string& message)
      : std::runtime_error(message), status(code) {}
  int32_t status;
};
/// Throws CallFailed unless `status` is TN_OK.
void require_ok(int32_t status, const tn_error& error);
/// The status that `action` throws, or TN_OK.
template <class Action>
int32_t status_of(Action&& action) {
  try {
    action();
    return TN_OK;
  } catch (const CallFailed& failed) {
    return failed.status;
  }
}

/// The table of a plugin file, which stays loaded. Throws std::runtime_error.
const tn_plugin& load_plugin(const std::string& path);
/// Why the plugin has no device; "" if it has one.
std::string no_device(const tn_plugin& plugin);

template <class T>
struct Owned : std::unique_ptr<T, void (*)(T*)> {
  using std::unique_ptr<T, void (*)(T*)>::unique_ptr;
  operator T*() const { return this->get(); }
};
using Executable = Owned<tn_executable>;

/// Bytes that a launch reads and writes, or the bits of a scalar.
struct Argument {
  Bytes* bytes = nullptr;
  uint64_t scalar = 0;
};

class Device;

class Memory {
 public:
  Memory(const Device& device, uint64_t size, uint32_t space = 0);
  operator tn_memory*() const { return memory_; }
  tn_memory* get() const { return memory_; }
  uint64_t size() const { return size_; }
  /// Throws CallFailed where the host does not see the space.
  unsigned char* map(uint64_t offset, uint64_t size) const;
  void unmap() const;
  /// By a copy where the host does not see the space.
  void write(uint64_t offset, std::span<const unsigned char> bytes) const;
  Bytes read(uint64_t offset, uint64_t size) const;
  Bytes read() const { return read(0, size_); }

 private:
  bool is_visible() const;
  const Device& device_;
  uint64_t size_;
  uint32_t space_;
  Owned<tn_memory> memory_;
};

class Timeline {
 public:
  explicit Timeline(const Device& device, uint64_t value = 0);
  tn_timeline* get() const { return timeline_; }
  tn_point at(uint64_t value) const { return {timeline_, value}; }
  // Each gives the status; the message of a wait goes to `message`.
  int32_t wait(uint64_t value, uint64_t timeout_ns = UINT64_MAX) const;
  int32_t query(uint64_t& value) const;
  int32_t signal(uint64_t value) const;
  mutable std::string message;

 private:
  const tn_plugin& plugin_;
  Owned<tn_timeline> timeline_;
};

/// Its functions throw CallFailed.
class Device {
 public:
  explicit Device(const tn_plugin& plugin, const char* options = nullptr, uint32_t index = 0);
  Device(const Device&) = delete;
  const tn_plugin& plugin() const { return plugin_; }
  tn_device* get() const { return device_; }
  tn_target target() const;
  const tn_properties& properties() const;

  Executable compile(const sdk::Program& program, tn_compile_report* report = nullptr) const;
  std::string save(tn_executable* executable) const;
  Executable load(std::string_view bytes) const;
  /// A TN_TEXT_ of it.
  std::string text(tn_executable* executable, uint32_t kind) const;

  /// The status.
  int32_t submit(std::span<const tn_command> commands, std::span<const tn_point> waits = {},
                 std::span<const tn_point> signals = {}, std::string* message = nullptr) const;
  /// Submits and waits.
  void run(std::span<const tn_command> commands) const;
  void run(std::initializer_list<tn_command> commands) const {
    run(std::span(commands.begin(), commands.size()));
  }
  /// Copies the bytes in, launches, waits, and copies them out.
  void run(tn_executable* executable, const sdk::Extent& grid, const sdk::Extent& block,
           std::span<const Argument> arguments) const;
  /// Compiles first.
  void run(const sdk::Program& program, const sdk::Extent& grid,
           std::span<const Argument> arguments) const;
  void run(const sdk::Program& program, const sdk::Extent& grid,
           std::initializer_list<Argument> arguments) const {
    run(program, grid, std::span(arguments.begin(), arguments.size()));
  }

 private:
  const tn_plugin& plugin_;
  Owned<tn_device> device_;
};

/// A tn_sink for a std::string.
void append_text(void* user, const void* bytes, size_t size);
/// A target that need not be there.
tn_target named_target(const char* name);
/// Parses or throws the error.
sdk::Program parsed(std::string_view text);

}  // namespace tenon::plugin_test
