// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least host that runs a program on a plugin: loads the file, opens device 0, binds vectors.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// One argument of a launch: bytes that are copied in and, after the run, back out; or a scalar.
struct TestArgument {
  std::vector<std::byte>* bytes = nullptr;
  uint64_t scalar = 0;
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}
template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  const auto* begin = reinterpret_cast<const T*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(T)};
}

class PluginHost {
 public:
  /// Throws std::runtime_error with the reason where anything fails.
  explicit PluginHost(const std::string& path);
  ~PluginHost();
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  const tn_plugin& plugin() const { return *plugin_; }
  tn_device* device() const { return device_; }
  tn_executable* compile(const Program& program);
  void run(tn_executable* executable, const Program& program, std::array<uint32_t, 3> grid,
           std::span<const TestArgument> arguments);
  /// Compiles, runs, destroys.
  void run(const Program& program, std::array<uint32_t, 3> grid,
           std::span<const TestArgument> arguments);
  void check(int32_t status);
  tn_error error = TN_INIT(tn_error);

 private:
  const tn_plugin* plugin_ = nullptr;
  tn_device* device_ = nullptr;
};

/// Where this build put the null backend.
std::string null_plugin();
/// Parses or throws the error.
Program parsed(std::string_view text);

}  // namespace tenon::sdk
