// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/null_device.hpp"

namespace tenon::sdk {

NullDevice::NullDevice()
    : Device(plugin_test::load_plugin(TENON_BINARY_DIR "/lib/tenon-examples/libtenon_null.so")) {}

}  // namespace tenon::sdk
