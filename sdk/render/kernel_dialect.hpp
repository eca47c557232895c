// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C-like languages whose kernels take memory objects and offsets, as OpenCL C.
#pragma once

#include "sdk/render/c_dialect.hpp"

namespace tenon::sdk {

/// A kernel takes two arguments for each BUFFER, a pointer to the memory object and a byte offset,
/// and one for each SCALAR, in the order of the params. So bindings may overlap and begin at any
/// offset. Derive, change `data_`, and override prelude() and opening().
class KernelDialect : public CDialect {
 public:
  std::string header(const ProgramView& program) const override;
  /// Adds the alignment of the param, as `__attribute__((aligned(16)))`.
  std::string allocation(const ProgramView& program, const tn_param& param,
                         const AllocationPlace& place) const override;

 protected:
  /// The text before the name of the kernel, as "__kernel void".
  virtual std::string opening(const ProgramView& program) const = 0;
  std::string_view byte_ = "uchar", offset_ = "ulong";  ///< types of bytes and offsets
};

}  // namespace tenon::sdk
