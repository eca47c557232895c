// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the SCALAR params of a launch stand in the one block of bytes that shaders read them from:
// push constants in GLSL, a uniform buffer in WGSL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// In the order of the params, each aligned to its own size (std430): 64-bit scalars take 8 bytes,
/// all others 4; what is narrower stands zero-extended in its 4 bytes, as in tn_argument::scalar.
struct ScalarLayout {
  std::vector<uint32_t> offsets;  ///< bytes, one for each tn_param; 0 for what is no SCALAR
  uint32_t bytes = 0;             ///< of the whole block, a multiple of 16; 0 if there are none
};

ScalarLayout scalar_layout(const ProgramView& program);

/// Number of BUFFER params: buffer k of them is bound at k, a block of scalars after the last.
uint32_t buffer_count(const ProgramView& program);

/// What a launch binds: its buffers in order, and the block of scalars.
class ShaderBindings {
 public:
  struct Buffer {
    const tn_argument* argument;
    bool is_written;
  };
  struct Bound {
    std::vector<Buffer> buffers;
    std::vector<std::byte> scalars;
  };
  /// Of one argument of a launch.
  struct Slot {
    uint32_t offset, bytes;  ///< of a scalar in the block; no bytes for a buffer
    uint32_t width;          ///< of the dtype, in bytes
    bool is_written;
  };
  explicit ShaderBindings(const ProgramView& program);
  std::span<const Slot> slots() const { return slots_; }
  uint32_t buffer_count() const { return buffer_count_; }
  uint32_t scalar_bytes() const { return scalar_bytes_; }
  /// The launch must be checked; `argument`s are the command's.
  Bound bind(const tn_command& launch) const;

 private:
  std::vector<Slot> slots_;
  uint32_t buffer_count_ = 0, scalar_bytes_ = 0;
};

}  // namespace tenon::sdk
