// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/render/scalar_layout.hpp"

#include <algorithm>
#include <cstring>

#include "sdk/backend/submission.hpp"

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

ShaderBindings::ShaderBindings(const ProgramView& program)
    : buffer_count_(sdk::buffer_count(program)) {
  const ScalarLayout layout = scalar_layout(program);
  scalar_bytes_ = layout.bytes;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const uint32_t width = dtype_bytes(static_cast<uint8_t>(param.dtype));
    slots_.push_back({layout.offsets[i], param.kind == TN_PARAM_SCALAR ? std::max(width, 4u) : 0,
                      width, (param.access & TN_ACCESS_WRITE) != 0});
  }
}

ShaderBindings::Bound ShaderBindings::bind(const tn_command& launch) const {
  Bound out;
  out.scalars.resize(scalar_bytes_);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const tn_argument& argument = Submission::argument(launch, i);
    if (slots_[i].bytes) {
      std::memcpy(out.scalars.data() + slots_[i].offset, &argument.scalar, slots_[i].bytes);
    } else {
      out.buffers.push_back({&argument, slots_[i].is_written});
    }
  }
  return out;
}

}  // namespace tenon::sdk
