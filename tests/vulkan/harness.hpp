// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built Vulkan plugin. Tests run where there is a device.
#pragma once

#include "tests/plugin/device.hpp"

namespace tenon::vulkan_test {

using namespace plugin_test;  // NOLINT: the fixture is these tests' own

const tn_plugin& plugin();
/// One device with default options for all tests; skips the test where there is none.
const Device& shared_device();

/// out[i] = in[i] + add, i32, `threads` a workgroup, for count elements; `add` is a SCALAR.
sdk::Program add_program(uint64_t count, uint32_t threads);

}  // namespace tenon::vulkan_test
