// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program under construction: a tree of regions.
//
// A pure op is placed in the outermost region where its operands are visible (loop-invariant code
// motion), and an equal visible op is reused (common-subexpression elimination). A region is
// attached to its parent when it is closed, so ops that are hoisted while it is open come before
// it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/ir/dtype.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// The ABI's dtype; both enums are made from dtypes.def.
inline tn_dtype abi(DType dtype) { return static_cast<tn_dtype>(dtype); }

class OpTree {
 public:
  using Value = uint32_t;

  struct Op {
    tn_opcode op = TN_OP_INVALID;
    tn_dtype dtype = TN_DTYPE_VOID;
    uint16_t lanes = 1;
    uint32_t flags = 0;
    uint64_t imm = 0;
    uint32_t first = 0, count = 0;  ///< operands
    uint32_t region = 0;            ///< that holds it; for the result of a loop, the one around
    uint32_t body = 0, other = 0;   ///< regions of a LOOP (body) or IF (body, else)
    Value source = 0;               ///< CARRY and result of a loop: the loop
    bool result = false;            ///< a carried value after its loop
  };

  OpTree();

  /// A param, in the outermost region. `number` is the caller's.
  Value param(tn_dtype dtype, uint64_t number);
  Value pure(tn_opcode op, tn_dtype dtype, uint16_t lanes, std::span<const Value> operands,
             uint64_t imm = 0, uint32_t flags = 0);
  /// A load, hoisted no further than region `floor`. `fixed`: memory that changes; such a load is
  /// neither moved nor shared.
  Value load(tn_dtype dtype, uint16_t lanes, std::span<const Value> operands, uint32_t flags,
             uint32_t floor, bool fixed);
  /// A load of a matrix fragment, which may move.
  Value matrix_load(tn_dtype dtype, uint16_t lanes, std::span<const Value> operands, uint64_t imm,
                    uint32_t floor);
  /// Enables store forwarding for a thread's scratch buffer of scalars: a load at a constant index
  /// takes the value stored in the same region, and stores that nothing loads are removed.
  void forward_stores(Value buffer) { forwarded_buffers_.insert(buffer); }
  /// The buffer has new contents: later loads are not shared with earlier ones.
  void changed(Value buffer);
  void effect(tn_opcode op, std::span<const Value> operands, uint64_t imm = 0, uint32_t flags = 0);
  /// A scalar ATOMIC, which does not move; returns the old value.
  Value atomic(tn_dtype dtype, std::span<const Value> operands, uint64_t imm);

  /// Begins a loop whose carried values are loop + 1 + k. `skips`: it may have no iteration, so
  /// loads must not be hoisted out of it.
  Value begin_loop(Value begin, Value end, Value step, std::span<const Value> initial,
                   bool skips = false);
  Value position(Value loop) const { return loop + 1 + (ops_[loop].count - 3); }
  /// Ends the loop; returns the final carried values.
  std::vector<Value> end_loop(std::span<const Value> next);
  void begin_if(Value condition);
  void begin_else();
  void end_if();

  const Op& at(Value v) const { return ops_[v]; }
  std::span<const Value> operands(Value v) const {
    return {operands_.data() + ops_[v].first, ops_[v].count};
  }
  uint32_t region() const { return current_; }
  uint32_t depth(Value v) const { return regions_[ops_[v].region].depth; }
  bool in_loop() const;  ///< the current region runs more than once
  /// The innermost open region of an IF or of a loop that may be skipped, or the outermost region.
  uint32_t conditional() const;
  /// The inner one of two open regions.
  uint32_t inner(uint32_t a, uint32_t b) const {
    return regions_[a].depth > regions_[b].depth ? a : b;
  }

  /// Appends all ops with effects and their operands to the builder (dead-code elimination).
  /// `params` maps param numbers to values of the builder.
  void write(sdk::ProgramBuilder& builder, std::span<const uint32_t> params) const;

 private:
  struct Region {
    uint32_t parent = 0, depth = 0;
    Value opener = 0;
    bool open = true, conditional = false, skips = false;
    std::vector<Value> items;
    std::vector<Value> next;  ///< operands of the END of a loop
  };
  Value add(Op op, std::span<const Value> operands);
  uint32_t open(Value opener, bool conditional);
  uint32_t place(std::span<const Value> operands, uint32_t floor) const;
  Value shared(Op op, std::span<const Value> operands);
  std::vector<bool> live() const;
  bool is_forwarded_store(const Op& op) const {
    return op.op == TN_OP_STORE && forwarded_buffers_.contains(operands_[op.first]);
  }
  void forward_stored(std::span<const Value> operands);
  class Writer;

  std::vector<Op> ops_;
  std::vector<Value> operands_;
  std::vector<Region> regions_;
  uint32_t current_ = 0;
  std::unordered_multimap<uint64_t, Value> known_;
  struct Forwarded {
    Value value = 0;
    uint32_t region = 0;
  };
  std::set<Value> forwarded_buffers_;
  std::map<std::pair<Value, Value>, Forwarded> forwarded_;  ///< by buffer and index
};

}  // namespace tenon
