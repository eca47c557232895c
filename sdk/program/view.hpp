// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a program (tenon/program.h) without copying it. Valid while the block lives.
//
// Uses the strides and offsets of the header, so programs of older and newer writers work.
// Assumes a verified program; see verify.hpp for one that is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tenon/program.h"

namespace tenon::sdk {

class ProgramView {
 public:
  explicit ProgramView(const tn_program* program) : program_(program) {}

  const tn_program* get() const { return program_; }
  const tn_program& header() const { return *program_; }
  std::string_view name() const { return string(program_->name); }
  uint32_t param_count() const { return program_->param_count; }
  const tn_param& param(uint32_t i) const {
    return *reinterpret_cast<const tn_param*>(at(program_->params) +
                                              size_t{i} * program_->param_stride);
  }
  uint32_t op_count() const { return program_->op_count; }
  const tn_op& op(uint32_t i) const {
    return *reinterpret_cast<const tn_op*>(at(program_->ops) + size_t{i} * program_->op_stride);
  }
  std::span<const uint32_t> operands(const tn_op& op) const {
    return {reinterpret_cast<const uint32_t*>(at(program_->operands)) + op.operands,
            op.operand_count};
  }
  std::string_view string(uint32_t offset) const {
    return reinterpret_cast<const char*>(at(offset));
  }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(program_), program_->total_size};
  }

 private:
  const std::byte* at(size_t offset) const {
    return reinterpret_cast<const std::byte*>(program_) + offset;
  }
  const tn_program* program_;
};

/// Number of launch arguments: BUFFER and SCALAR params.
uint32_t argument_count(const ProgramView& program);

/// Offset and size of an ALLOC param in its space, which starts at 0. Zeros for other params.
struct AllocationPlace {
  uint64_t offset = 0, bytes = 0;
};
/// One for each param. shared_bytes and scratch_bytes of the header are the ends of the last
/// allocations.
std::vector<AllocationPlace> allocation_places(const ProgramView& program);

/// For each LOOP, IF and ELSE, the number of the ELSE or END that closes it; for others their own.
std::vector<uint32_t> region_closes(const ProgramView& program);

std::string_view op_text(
    uint16_t op);  ///< "load" for TAKE; "op 77" style is never returned: "?" if unknown
std::string_view dtype_text(uint8_t dtype);  ///< "f32"; "?" if unknown
uint32_t dtype_bytes(uint8_t dtype);         ///< 0 if unknown

}  // namespace tenon::sdk
