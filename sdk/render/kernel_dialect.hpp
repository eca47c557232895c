// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Languages with C's syntax whose kernels are bound memory objects and offsets, as OpenCL C.
#pragma once

#include "sdk/render/c_dialect.hpp"

namespace tenon::sdk {

/// A kernel takes two arguments for each BUFFER, a pointer to the memory object and the byte where
/// the buffer begins in it, and one for each SCALAR, all in the order of the params: bindings may
/// overlap, and begin where they like. Derive, change `data_`, and say how a source begins
/// (prelude()) and how a kernel is opened.
class KernelDialect : public CDialect {
 public:
  std::string header(const ProgramView& program) const override;
  /// With the param's alignment, as `__attribute__((aligned(16)))`.
  std::string allocation(const ProgramView& program, const tn_param& param,
                         const AllocationPlace& place) const override;

 protected:
  /// What stands before the kernel's name, as "__kernel void".
  virtual std::string opening(const ProgramView& program) const = 0;
  std::string_view byte_ = "uchar", offset_ = "ulong";  ///< types of what is bound
};

}  // namespace tenon::sdk
