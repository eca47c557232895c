// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts with a file beside a device that computes.
#pragma once

#include <cstring>
#include <numeric>

#include "frontend/tensor/state.hpp"
#include "tests/runtime/support.hpp"

namespace tenon::test {

/// "cpu,disk:/x" with the plugins of this build.
inline ContextOptions with_files(const std::string& devices) {
  ContextOptions options = options_for(devices, "disk");
  for (const char* name : {"null", "cpu", "fake"})
    if (fs::exists(plugin_file(name))) options.plugins.push_back(plugin_file(name));
  return options;
}

inline std::string computing() { return fs::exists(plugin_file("cpu")) ? "cpu" : "null"; }

inline std::string disk(const fs::path& path) { return "disk:" + path.string(); }

inline std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

inline void write_floats(const fs::path& path, const std::vector<float>& values) {
  write_file(path, std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
}

inline std::vector<float> read_floats(const fs::path& path) {
  const std::string bytes = read_file(path);
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), 4 * values.size());
  return values;
}

}  // namespace tenon::test
