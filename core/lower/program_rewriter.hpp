// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs through a program once and says each op again for a device that lacks some dtypes: what
// stands for them is said by who derives from this; regions and all other ops stay.
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

  /// What becomes of a param, its name and kind apart.
  virtual tn_param declared(const tn_param& param) const = 0;
  /// Whether an op's value becomes two.
  virtual bool is_pair(uint32_t) const { return false; }
  // Ops with their operands; what is not a pair is `low`.
  virtual Pair load(const tn_op& op, Operands operands) = 0;
  virtual void store(const tn_op& op, Operands operands) = 0;
  /// An op without a value, or an ATOMIC; no region.
  virtual Pair effect(const tn_op& op, Operands operands);
  virtual Pair computed(uint32_t i, const tn_op& op, Operands operands) = 0;

  static DType dtype_of(const tn_op& op) { return static_cast<DType>(op.dtype); }
  static DType dtype_of(const tn_param& param) { return static_cast<DType>(param.dtype); }
  static tn_dtype abi(DType dtype) { return static_cast<tn_dtype>(dtype); }
  DType dtype_of(uint32_t op) const { return dtype_of(program_.op(op)); }
  /// The buffer of a TAKE or STORE.
  const tn_param& memory(const tn_op& access) const;
  /// Of each operand the one value, or the low one.
  std::vector<Value> low(Operands operands) const;
  Value load_word(const tn_param& from, const std::vector<Value>& operands, int lanes,
                  uint32_t flags);
  /// The index of each of the elements that lie side by side from here on.
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
  Pair say(uint32_t i, const tn_op& op);
  Value begin_loop(uint32_t i, Operands operands);
  Pair carry(uint32_t i);
  void end(Operands operands);
  std::vector<uint32_t> declare(sdk::ProgramBuilder& builder) const;
  std::vector<Value> all(Operands operands) const;  ///< of a pair both, the low one first

  std::vector<Region> open_;
  Value carry_ = 0;  ///< of the last loop begun, the next one to be met
};

}  // namespace tenon
