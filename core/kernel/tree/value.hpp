// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The leaves of a loop tree: an immutable DAG of scalar computations at one point of the loops.
//
// Indices and masks are Expr over the axes, so the one simplifier of core/ir serves them all. A
// number that only the data knows (the index of a TAKE) enters an Expr as a symbol that
// Kernel::lets defines.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
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
  bool approximate = false;  ///< of an op: a fast, less exact form will do
  std::vector<KValueRef> operands;
  int reduction = -1, state = 0;
};

inline bool is_op(const KValueRef& v, Op op) { return v->kind == KValueKind::kOp && v->op == op; }

KValueRef make_const(Scalar value);
KValueRef make_index(Expr index, DType dtype);
KValueRef make_load(int buffer, DType dtype, Expr index, Expr mask, Scalar fill);
KValueRef make_op(Op op, DType dtype, std::vector<KValueRef> operands, bool bits = false);
/// Whether every value of the index is one of the dtype, so that nothing wraps.
bool holds(DType dtype, const Expr& index);
KValueRef make_cast(KValueRef value, DType dtype);  ///< the value itself if it has that dtype
KValueRef make_result(int reduction, int state, DType dtype);
/// c ? x : y; a load masked by the same condition takes a constant y as its fill instead.
KValueRef make_select(const Expr& condition, KValueRef x, const Scalar& y);

/// The load below a widening cast, or that it is itself; null if it is no load.
KValueRef widened_load(const KValueRef& value);

/// Rewrites each value once, operands first; `change` gets a value whose operands are rewritten and
/// gives another or the same.
class KValueRewriter {
 public:
  explicit KValueRewriter(std::function<KValueRef(const KValueRef&)> change)
      : change_(std::move(change)) {}
  KValueRef operator()(const KValueRef& value);

 private:
  std::function<KValueRef(const KValueRef&)> change_;
  std::unordered_map<const KValue*, KValueRef> done_;
  std::vector<KValueRef> keep_;  ///< so that no address in done_ is used again
};

/// Each value below the root once, operands first.
void visit(const KValueRef& root, const std::function<void(const KValueRef&)>& use);

}  // namespace tenon
