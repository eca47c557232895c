// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/shader/properties.hpp"

namespace tenon::sdk {

std::unique_ptr<PropertyTable> shader_properties() {
  auto table = std::make_unique<PropertyTable>(TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC |
                                               TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE);
  table->claim({TN_OP_NEG, TN_OP_SUB, TN_OP_FDIV, TN_OP_SHL, TN_OP_SHR, TN_OP_CMPEQ, TN_OP_TRUNC,
                TN_OP_FLOOR, TN_OP_EXP, TN_OP_LN, TN_OP_COS, TN_OP_MIN, TN_OP_BARRIER});
  table->fields().accuracy = TN_ACCURACY_RELAXED;
  table->fields().index_bits = 32;
  return table;
}

}  // namespace tenon::sdk
