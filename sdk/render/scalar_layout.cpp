// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/render/scalar_layout.hpp"

#include <algorithm>

namespace tenon::sdk {

ScalarLayout scalar_layout(const ProgramView& program) {
  ScalarLayout layout;
  layout.offsets.resize(program.param_count());
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind != TN_PARAM_SCALAR) continue;
    const uint32_t size = std::max(dtype_bytes(static_cast<uint8_t>(param.dtype)), 4u);
    layout.offsets[i] = (layout.bytes + size - 1) / size * size;
    layout.bytes = layout.offsets[i] + size;
  }
  layout.bytes = (layout.bytes + 15) / 16 * 16;
  return layout;
}

uint32_t buffer_count(const ProgramView& program) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    count += program.param(i).kind == TN_PARAM_BUFFER;
  }
  return count;
}

}  // namespace tenon::sdk
