// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/shader/properties.hpp"

namespace tenon::sdk {

std::unique_ptr<PropertyTable> shader_properties() {
  auto table = std::make_unique<PropertyTable>(TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC |
                                               TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE);
  table->claim({OpClaim::PLAIN, OpClaim::MATH, OpClaim::WORKGROUP});
  table->fields().accuracy = TN_ACCURACY_RELAXED;
  table->fields().index_bits = 32;
  return table;
}

}  // namespace tenon::sdk
