// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops under construction: a tree of regions into which values are placed as far out as they may go.
//
// A pure op lands in the outermost region where all its operands are visible, and an equal one that
// is still visible is used again: that is all of common-subexpression elimination and of hoisting
// out of loops. Regions are filled before they are attached to their parent, so that what is
// hoisted while one is open comes before it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ir/dtype.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// A dtype of the IR as the ABI has it: both are made from dtypes.def.
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
    uint32_t region = 0;            ///< where it stands; for the result of a loop, around the loop
    uint32_t body = 0, other = 0;   ///< regions of a LOOP (body) or IF (body, else)
    Value source = 0;               ///< CARRY and result of a loop: the loop
    bool result = false;            ///< a carried value after its loop
  };

  OpTree();

  /// Values that the launch or the kernel provides; outermost. `number` is the caller's.
  Value param(tn_dtype dtype, uint64_t number);
  Value pure(tn_opcode op, tn_dtype dtype, uint16_t lanes, std::span<const Value> operands,
             uint64_t imm = 0, uint32_t flags = 0);
  /// A load: no further out than `floor`. Loads of memory that changes stay where they are and are
  /// not shared (`fixed`).
  Value load(tn_dtype dtype, uint16_t lanes, std::span<const Value> operands, uint32_t flags,
             uint32_t floor, bool fixed);
  /// A matrix fragment: as a load that may move.
  Value matrix_load(tn_dtype dtype, uint16_t lanes, std::span<const Value> operands, uint64_t imm,
                    uint32_t floor);
  /// A buffer of each thread's own, of scalars: what was stored at a constant index is not loaded
  /// again in the same region, and what nobody loads is not stored.
  void hold(Value buffer) { held_buffers_.insert(buffer); }
  /// Memory has new contents: later loads of `buffer` are not the earlier ones.
  void changed(Value buffer);
  void effect(tn_opcode op, std::span<const Value> operands, uint64_t imm = 0, uint32_t flags = 0);
  /// A scalar ATOMIC, where it stands; gives the old value.
  Value atomic(tn_dtype dtype, std::span<const Value> operands, uint64_t imm);

  /// The carried values of the new loop are loop + 1 + k. `skips`: it may have no iteration, and
  /// then its loads must not be done.
  Value begin_loop(Value begin, Value end, Value step, std::span<const Value> initial,
                   bool skips = false);
  Value position(Value loop) const { return loop + 1 + (ops_[loop].count - 3); }
  /// Gives the carried values as they left the loop.
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

  /// Appends what has an effect, and what that needs, to the builder; `params` gives the builder's
  /// value of each param number.
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
  bool is_held_store(const Op& op) const {
    return op.op == TN_OP_STORE && held_buffers_.contains(operands_[op.first]);
  }
  void hold_stored(std::span<const Value> operands);
  class Writer;

  std::vector<Op> ops_;
  std::vector<Value> operands_;
  std::vector<Region> regions_;
  uint32_t current_ = 0;
  std::unordered_multimap<uint64_t, Value> known_;
  struct Held {
    Value value = 0;
    uint32_t region = 0;
  };
  std::set<Value> held_buffers_;
  std::map<std::pair<Value, Value>, Held> held_;  ///< by buffer and index
};

}  // namespace tenon
