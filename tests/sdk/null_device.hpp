// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built null backend, and short names of the fixture for tests of the sdk.
#pragma once

#include "tests/plugin/device.hpp"

namespace tenon::sdk {

using plugin_test::Bytes, plugin_test::bytes_of, plugin_test::values_of, plugin_test::parsed;
using TestArgument = plugin_test::Argument;

struct NullDevice : plugin_test::Device {
  NullDevice();
};

}  // namespace tenon::sdk
