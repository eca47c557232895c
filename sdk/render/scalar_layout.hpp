// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout of the SCALAR params of a launch in a block of bytes: push constants in GLSL, a uniform
// buffer in WGSL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// In the order of the params, each aligned to its size (std430). 64-bit scalars take 8 bytes,
/// others 4; narrower ones are zero-extended, as in tn_argument::scalar.
struct ScalarLayout {
  std::vector<uint32_t> offsets;  ///< in bytes, for each tn_param; 0 if it is not a SCALAR
  uint32_t bytes = 0;             ///< of the whole block, a multiple of 16; 0 if there are none
};

ScalarLayout scalar_layout(const ProgramView& program);

/// Number of BUFFER params. Buffer k is bound at k, the block of scalars after the last.
uint32_t buffer_count(const ProgramView& program);

/// The bindings of a launch: its buffers in order, and the block of scalars.
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
  /// One argument of a launch.
  struct Slot {
    uint32_t offset, bytes;  ///< of a scalar in the block; bytes is 0 for a buffer
    uint32_t width;          ///< of the dtype, in bytes
    bool is_written;
  };
  explicit ShaderBindings(const ProgramView& program);
  std::span<const Slot> slots() const { return slots_; }
  uint32_t buffer_count() const { return buffer_count_; }
  uint32_t scalar_bytes() const { return scalar_bytes_; }
  /// Binds a checked launch.
  Bound bind(const tn_command& launch) const;

 private:
  std::vector<Slot> slots_;
  uint32_t buffer_count_ = 0, scalar_bytes_ = 0;
};

}  // namespace tenon::sdk
