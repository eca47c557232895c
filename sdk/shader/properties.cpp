// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/shader/properties.hpp"

#include <algorithm>
#include <thread>

namespace tenon::sdk {

std::unique_ptr<PropertyTable> shader_properties(bool is_software) {
  auto table = std::make_unique<PropertyTable>(TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC |
                                               TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE);
  table->claim(kVectorOps).claim(kWorkgroupOps);
  table->compute({TN_DTYPE_F32, TN_DTYPE_I32, TN_DTYPE_U32}, 4);
  tn_properties& p = table->fields();
  p.accuracy = TN_ACCURACY_RELAXED;
  p.index_bits = 32;
  if (is_software) {
    p.flags |= TN_DEVICE_SOFTWARE;
    p.compute_units = std::max(1u, std::thread::hardware_concurrency());
  }
  return table;
}

}  // namespace tenon::sdk
