// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits single ops: broadcasts operands to equal lanes and folds simple constants.
#pragma once

#include <vector>

#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"
#include "core/lower/op_tree.hpp"

namespace tenon {

class KernelOps {
 public:
  using Value = OpTree::Value;
  /// `index`: the dtype of indices.
  KernelOps(OpTree& tree, DType index) : tree_(tree), index_(index) {}

  OpTree& tree() { return tree_; }
  DType index_dtype() const { return index_; }
  int lanes(Value v) const { return tree_.at(v).lanes; }
  bool is_constant(Value v, int64_t& value) const;

  Value constant(DType dtype, uint64_t bits, int lanes = 1);
  Value index_constant(int64_t value) { return constant(index_, static_cast<uint64_t>(value)); }
  Value broadcast(Value v, int lanes);
  Value lane(Value v, int number);
  /// Scalar operands are broadcast.
  Value op(tn_opcode code, DType dtype, std::vector<Value> operands, uint64_t imm = 0,
           uint32_t flags = 0);
  Value cast(Value v, DType dtype);
  Value add(Value a, Value b);       ///< of indices; exact
  Value multiply(Value a, Value b);  ///< of indices; exact
  Value both(Value a, Value b);      ///< of conditions
  Value combine(Op code, DType dtype, Value a, Value b, uint32_t flags = 0);
  Value lane_index(int lanes);

 private:
  OpTree& tree_;
  DType index_;
};

}  // namespace tenon
