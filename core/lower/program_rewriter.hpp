// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base of passes that rewrite a program for a device without some dtypes. Derived classes replace
// values, loads and stores; regions and other ops are copied.
#pragma once

#include <span>
#include <vector>

#include "core/lower/pair_ops.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

class ProgramRewriter {
 public:
  virtual ~ProgramRewriter() = default;
  ProgramRewriter(const ProgramRewriter&) = delete;
  ProgramRewriter& operator=(const ProgramRewriter&) = delete;

  sdk::Program run();

 protected:
  using Value = OpTree::Value;
  using Operands = std::span<const uint32_t>;  ///< ops of the program

  ProgramRewriter(const sdk::ProgramView& program, const Capabilities& capabilities)
      : program_(program), words_(tree_, capabilities) {}

  /// The new param; name and kind stay.
  virtual tn_param declared(const tn_param& param) const = 0;
  /// True if an op's value becomes two.
  virtual bool is_pair(uint32_t) const { return false; }
  // Rewrites an op. A result that is not a pair is `low`.
  virtual Pair load(const tn_op& op, Operands operands) = 0;
  virtual void store(const tn_op& op, Operands operands) = 0;
  /// An op without a value, or an ATOMIC; not LOOP or IF.
  virtual Pair effect(const tn_op& op, Operands operands);
  virtual Pair computed(uint32_t i, const tn_op& op, Operands operands) = 0;

  static DType dtype_of(const tn_op& op) { return static_cast<DType>(op.dtype); }
  static DType dtype_of(const tn_param& param) { return static_cast<DType>(param.dtype); }
  static tn_dtype abi(DType dtype) { return static_cast<tn_dtype>(dtype); }
  DType dtype_of(uint32_t op) const { return dtype_of(program_.op(op)); }
  /// The buffer of a TAKE or STORE.
  const tn_param& memory(const tn_op& access) const;
  /// The value, or low word, of each operand.
  std::vector<Value> low(Operands operands) const;
  Value load_word(const tn_param& from, const std::vector<Value>& operands, int lanes,
                  uint32_t flags);
  /// Indices of `lanes` contiguous elements from `index` on.
  Value spread(Value index, int lanes);

  const sdk::ProgramView program_;
  OpTree tree_;
  WordOps words_;
  std::vector<Pair> values_;  ///< of each op of the program

 private:
  struct Region {
    std::vector<uint32_t> carries;  ///< ops of the program
    bool is_loop = false;
  };
  Pair rewrite(uint32_t i, const tn_op& op);
  Value begin_loop(uint32_t i, Operands operands);
  Pair carry(uint32_t i);
  void end(Operands operands);
  std::vector<uint32_t> declare(sdk::ProgramBuilder& builder) const;
  std::vector<Value> all(Operands operands) const;  ///< both values of a pair, low first

  std::vector<Region> open_;
  Value carry_ = 0;  ///< next carried value of the last loop begun
};

}  // namespace tenon
