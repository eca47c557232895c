// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic and conditions where the walk stands: Expr to ops.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "core/ir/capabilities.hpp"
#include "core/lower/kernel_ops.hpp"
#include "core/lower/positions.hpp"
#include "core/lower/program_params.hpp"

namespace tenon {

class IndexExprs {
 public:
  using Value = OpTree::Value;
  /// Emits what a let stands for; it may in turn be computed from indices.
  using LetValue = std::function<Value(const KValueRef&)>;

  IndexExprs(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
             const Positions& positions, ProgramParams& params, LetValue let_value);

  Value integer(const Expr& expr);
  Value condition(const Expr& expr);
  /// Whether one of them is known not to hold here.
  bool any_false(std::span<const Expr> conditions);

 private:
  Value symbol(const Expr& expr);
  Value sum(const Expr& expr);
  Value quotient(const Expr& expr);
  Value remainder(const Expr& expr);

  const Capabilities& capabilities_;
  KernelOps& ops_;
  const OpTree& tree_;
  DType index_;
  const Positions& positions_;
  ProgramParams& params_;
  std::map<std::string, KValueRef> lets_;
  LetValue let_value_;
};

}  // namespace tenon
