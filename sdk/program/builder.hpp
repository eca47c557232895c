// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a program block. Used by the core's lowering, the text parser and tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Owns the 16-byte aligned block of a program. A value type.
class Program {
 public:
  Program() = default;
  /// Copies `size` bytes without verifying them.
  Program(const void* bytes, size_t size);
  explicit Program(const ProgramView& program) : Program(program.get(), program.bytes().size()) {}
  const tn_program* get() const { return reinterpret_cast<const tn_program*>(words_.data()); }
  ProgramView view() const { return ProgramView(get()); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct alignas(16) Word {
    unsigned char bytes[16];
  };
  std::vector<Word> words_;
  size_t size_ = 0;
};

class ProgramBuilder {
 public:
  using Value = uint32_t;

  explicit ProgramBuilder(std::string name) : name_(std::move(name)) {}

  /// Each adds a tn_param and its PARAM op. The value refers to the buffer or is the scalar.
  Value buffer(std::string_view name, tn_dtype dtype, uint32_t access, uint64_t count = 0,
               uint32_t alignment = 0, tn_space space = TN_SPACE_GLOBAL);
  Value scalar(std::string_view name, tn_dtype dtype, int64_t minimum, int64_t maximum);
  Value allocate(std::string_view name, tn_dtype dtype, tn_space space, uint64_t count,
                 uint32_t alignment = 0);

  Value constant(tn_dtype dtype, uint64_t bits, uint16_t lanes = 1);
  Value index(tn_axis axis, tn_dtype dtype, uint16_t lanes = 1);
  Value op(tn_opcode op, tn_dtype dtype, uint16_t lanes, std::span<const Value> operands,
           uint64_t imm = 0, uint32_t flags = 0);
  Value op(tn_opcode op, tn_dtype dtype, uint16_t lanes, std::initializer_list<Value> operands,
           uint64_t imm = 0, uint32_t flags = 0);
  /// Opens a loop and its CARRY ops: carry k is the returned value + 1 + k.
  Value begin_loop(Value begin, Value end, Value step, std::span<const Value> initial = {},
                   uint32_t flags = 0);
  void begin_if(Value condition);
  void begin_else();
  void end(std::span<const Value> operands = {});

  void workgroup(uint32_t x, uint32_t y, uint32_t z);
  void subgroup(uint32_t size) { subgroup_size_ = size; }
  const tn_op& at(Value value) const { return ops_[value]; }
  uint32_t op_count() const { return static_cast<uint32_t>(ops_.size()); }

  /// The finished block. Sums the allocations into sizes of shared and scratch memory.
  Program finish() const;

 private:
  uint32_t string(std::string_view text);
  std::string name_;
  std::vector<tn_param> params_;
  std::vector<tn_op> ops_;
  std::vector<uint32_t> operands_;
  std::string data_;  ///< offsets in params_ refer to it until finish()
  uint32_t workgroup_[3] = {1, 1, 1};
  uint32_t subgroup_size_ = 0;
};

}  // namespace tenon::sdk
