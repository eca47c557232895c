// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The params of a program, made at first use, and how far loads of them may be hoisted.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"
#include "core/lower/kernel_ops.hpp"

namespace tenon {

inline constexpr uint32_t kTileAlignment = 64;  ///< bytes
inline constexpr uint32_t kLinesAlignment = kPatternBytes;

/// Alignment of a bound buffer, in bytes.
inline uint32_t buffer_alignment(const KernelBuffer& buffer, const Capabilities& capabilities) {
  const uint32_t bound = buffer.written ? capabilities.alignment : capabilities.read_alignment;
  return std::max(bound, static_cast<uint32_t>(dtype_size(buffer.dtype)));
}

class ProgramParams {
 public:
  using Value = OpTree::Value;
  struct Param {
    enum class Kind : uint8_t { kBuffer, kScalar, kShared } kind = Kind::kBuffer;
    int buffer = -1;  ///< kBuffer: of the kernel
    Expr symbol = 0;  ///< kScalar
    DType dtype = DType::kVoid;
    int64_t count = 0;  ///< kShared
  };

  ProgramParams(const Kernel& kernel, KernelOps& ops);

  const std::vector<Param>& all() const { return params_; }  ///< numbers of OpTree::param

  Value buffer(int b);  ///< of the kernel
  Value symbol(const Expr& symbol);
  /// New shared memory of a workgroup.
  Value shared(DType dtype, int64_t count);

  /// A tile has new contents while the current region is open.
  void filled(int b);
  /// The outermost region for loads of a buffer: memory is not read if it is not needed, nor a tile
  /// before it is filled.
  uint32_t floor(int b) const;

 private:
  Value add(Param param);

  const Kernel& kernel_;
  KernelOps& ops_;
  std::vector<Param> params_;
  std::vector<Value> buffers_;            ///< kNone: not bound yet
  std::map<std::string, Value> symbols_;  ///< SCALAR params
  std::vector<uint32_t> floor_;           ///< of each buffer
  static constexpr Value kNone = ~Value{0};
};

}  // namespace tenon
