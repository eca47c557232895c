// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar values of a loop tree: an immutable DAG, computed at one point of the loops.
//
// Indices and masks are Exprs over the axes, simplified as they are built. A value from memory,
// such as the index of a TAKE, enters an Expr as a symbol that Kernel::lets defines.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/expr/expr.hpp"
#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"

namespace tenon {

struct KValue;
using KValueRef = std::shared_ptr<const KValue>;

enum class KValueKind : uint8_t {
  kConst,   ///< `constant`
  kIndex,   ///< `index` as a value of `dtype`; kBool: a condition
  kLoad,    ///< element `index` of `buffer` where `mask` holds, else `constant`
  kOp,      ///< an elementwise op or CAST on `operands`
  kResult,  ///< state `state` of the finished reduction `reduction`
};

struct KValue {
  KValueKind kind = KValueKind::kConst;
  DType dtype = DType::kVoid;
  Scalar constant;
  Expr index;
  Expr mask = 1;
  int buffer = -1;
  Op op = Op::INVALID;
  bool bits = false;         ///< of a CAST
  bool approximate = false;  ///< of an op: a faster, less accurate form is enough
  std::vector<KValueRef> operands;
  int reduction = -1, state = 0;
};

inline bool is_op(const KValueRef& v, Op op) { return v->kind == KValueKind::kOp && v->op == op; }

KValueRef make_const(Scalar value);
KValueRef make_index(Expr index, DType dtype);
KValueRef make_load(int buffer, DType dtype, Expr index, Expr mask, Scalar fill);
KValueRef make_op(Op op, DType dtype, std::vector<KValueRef> operands, bool bits = false);
/// True if every value of the index fits the dtype.
bool holds(DType dtype, const Expr& index);
KValueRef make_cast(KValueRef value, DType dtype);  ///< `value` if it has that dtype
KValueRef make_result(int reduction, int state, DType dtype);
/// condition ? x : y. A load masked by the same condition gets y as its fill instead.
KValueRef make_select(const Expr& condition, KValueRef x, const Scalar& y);

/// The load that `value` is, or that it widens; null if there is none.
KValueRef widened_load(const KValueRef& value);

/// Rewrites each value once, operands first. `change` gets a value with rewritten operands and
/// returns its replacement.
class KValueRewriter {
 public:
  explicit KValueRewriter(std::function<KValueRef(const KValueRef&)> change)
      : change_(std::move(change)) {}
  KValueRef operator()(const KValueRef& value);

 private:
  std::function<KValueRef(const KValueRef&)> change_;
  std::unordered_map<const KValue*, KValueRef> done_;
  std::vector<KValueRef> keep_;  ///< alive, so that addresses in done_ stay unique
};

/// Calls `use` once for each value of the DAG, operands first.
void visit(const KValueRef& root, const std::function<void(const KValueRef&)>& use);

}  // namespace tenon
