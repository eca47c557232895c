// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits index expressions and conditions at the current position.
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
  /// Emits the value of a let, which may be computed from indices.
  using LetValue = std::function<Value(const KValueRef&)>;

  IndexExprs(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
             const Positions& positions, ProgramParams& params, LetValue let_value);

  Value integer(const Expr& expr);
  Value condition(const Expr& expr);
  /// True if one of the conditions is a constant false here.
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
