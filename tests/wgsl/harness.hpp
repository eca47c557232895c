// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built WGSL plugin, and what its tests launch.
#pragma once

#include "tests/plugin/device.hpp"

namespace tenon::wgsl_test {

using namespace plugin_test;  // NOLINT: the fixture is these tests' own

/// The plugin of this build.
const tn_plugin& plugin();
/// Empty if there is a device, else why not.
inline std::string no_device() { return plugin_test::no_device(plugin()); }

/// y[i] = x[i] * 2 + n for i < count.
sdk::Program scaled_program(uint32_t threads = 64);
Bytes floats(std::initializer_list<float> values);
/// Bytes that differ from their neighbours.
Bytes counting(size_t size, unsigned first = 1);

}  // namespace tenon::wgsl_test
