// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C11 dialect. Tests compile it with the system compiler, and dialects of languages with C
// syntax derive from it.
#pragma once

#include "sdk/render/dialect.hpp"

namespace tenon::sdk {

/// One thread of the launch:
///   void kernel_NAME(void* const* arguments, const uint32_t* thread)
/// arguments: for each BUFFER its first element, for each SCALAR a pointer to its value.
/// thread: grid x y z, block x y z. Workgroups of several threads may use neither shared memory nor
/// barriers. Compile with -ffp-contract=off -fwrapv.
const Dialect& c_dialect();

/// Derive for a language with C syntax: change `data_`, and override the prelude, the kernel header
/// and array declarations. Arithmetic is that of C11, in f64 where that is exact, so the language
/// needs a double.
class CDialect : public Dialect {
 public:
  CDialect();
  const DialectData& data() const override { return data_; }
  std::string prelude(const ProgramView& program, std::string_view kernel) const override;
  std::string header(const ProgramView& program) const override;
  std::string literal(uint64_t bits, uint8_t dtype) const override;
  bool computes(uint16_t op, uint8_t dtype) const override;
  std::string cast(const std::string& value, uint8_t from, uint8_t to) const override;
  std::string bit_cast(const std::string& value, uint8_t from, uint8_t to) const override;
  std::string allocation(const ProgramView& program, const tn_param& param,
                         const AllocationPlace& place) const override;

 protected:
  DialectData data_;
};

/// The helper functions that sources call. The prelude must define before them: the types of
/// <stdint.h>, UINT64_C and INT64_C; of <math.h> signbit, isfinite, ldexp, fabs and nearbyint; and
/// tn_bits_f32, tn_bits_f64, tn_bits_of_f32 and tn_bits_of_f64, which convert between bits and
/// floats.
std::string_view c_helpers();

}  // namespace tenon::sdk
