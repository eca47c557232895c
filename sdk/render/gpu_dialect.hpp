// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA C++ and HIP C++ as one dialect, with data for the differences. Sources have no includes, as
// run-time compilers lack host headers. Compile with contraction of a*b+c off.
#pragma once

#include <span>

#include "sdk/render/dialect.hpp"
#include "sdk/render/gpu_matrix.hpp"
#include "sdk/render/gpu_prelude.hpp"

namespace tenon::sdk {

/// Differences between the two languages.
struct GpuWords {
  std::string_view name;
  std::string_view subgroup_barrier;  ///< a statement
  std::string_view shuffle;           ///< {0} value {1} lane: an expression
  std::string_view shuffle_across;    ///< {0} value {1} lane bits to flip: an expression
  std::string_view stream_load;       ///< moves {2} bytes from {1} to {0}: a statement
  bool orders_stores = false;        ///< the compiler keeps conditional stores after earlier stores
  std::string_view stream_store;     ///< moves {2} bytes from {1} to {0}: a statement
  uint64_t static_shared_bytes = 0;  ///< a larger size is declared as dynamic shared memory
  std::span<const GpuHelper> helpers;  ///< override common ones
  std::span<const GpuAtom> atoms;
};

/// Whether a program needs more shared memory than a kernel may declare. Then the launch must raise
/// the limit of the kernel and pass header().shared_bytes as dynamic shared memory.
bool has_dynamic_shared(const ProgramView& program, const Dialect& dialect);

class GpuDialect : public Dialect {
 public:
  explicit GpuDialect(const GpuWords& words);
  const DialectData& data() const override { return data_; }
  const GpuWords& words() const { return words_; }

  std::string prelude(const ProgramView& program, std::string_view kernel) const override;
  /// extern "C" __global__ void kernel_NAME(T* p_x, ..., int p_n), in the order of the params.
  std::string header(const ProgramView& program) const override;
  std::string literal(uint64_t bits, uint8_t dtype) const override;
  bool computes(uint16_t op, uint8_t dtype) const override;
  std::string cast(const std::string& value, uint8_t from, uint8_t to) const override;
  std::string bit_cast(const std::string& value, uint8_t from, uint8_t to) const override;
  std::string allocation(const ProgramView& program, const tn_param& param,
                         const AllocationPlace& place) const override;
  std::string load_lanes(const Element& at, const std::string& lanes,
                         const tn_op& op) const override;
  std::string store(const Element& at, const std::string& value, const tn_op& op) const override;
  std::string store_lanes(const Element& at, const std::string& lanes, uint32_t count,
                          const tn_op& op) const override;
  std::string atomic(const Element& at, const std::vector<std::string>& values,
                     const tn_op& op) const override;
  std::string barrier(const ProgramView& program, const tn_op& op) const override;
  std::string statement(const ProgramView& program, const tn_op& op, const std::string& name,
                        const std::vector<std::string>& operands) const override;

 private:
  std::string subgroup_statement(const ProgramView& program, const tn_op& op,
                                 const std::string& name, const std::string& value,
                                 const std::string& lane) const;

  const GpuWords& words_;
  DialectData data_;
};

}  // namespace tenon::sdk
