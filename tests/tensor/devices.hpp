// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts for the tests of tensors: on each plugin of this build, apart from the environment.
#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/runtime/runtime.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {

inline std::vector<std::string> plugin_files() {
  // Where there is a GPU, the tests can be run on it.
  if (const char* other = std::getenv("TENON_TEST_PLUGIN")) return {other};
  const std::filesystem::path lib = std::filesystem::path(TENON_BINARY_DIR) / "lib";
  std::vector<std::string> files;
  for (const char* name : {"tenon/libtenon_cpu.so", "tenon-examples/libtenon_null.so"})
    if (std::filesystem::exists(lib / name)) files.push_back((lib / name).string());
  return files;
}

/// Both plugins, the processor first; there must be both.
inline ContextOptions cpu_and_null() {
  ContextOptions options;
  options.plugins = plugin_files();
  options.devices = "cpu,null";
  options.use_environment = false;
  options.disk_cache = false;
  return options;
}

/// Runs the test on every plugin; at least one must be there.
inline void on_each_device(const std::function<void(Context&)>& test) {
  const auto files = plugin_files();
  REQUIRE_FALSE(files.empty());
  for (const auto& file : files) {
    ContextOptions options;
    options.plugins = {file};
    const std::string stem = std::filesystem::path(file).stem().string();
    options.devices = stem.substr(stem.rfind('_') + 1);
    options.use_environment = false;
    options.disk_cache = false;
    Context context(options);
    INFO("on " << context.device().id);
    test(context);
  }
}

}  // namespace tenon::test
