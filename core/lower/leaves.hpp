// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits values: masked loads, elementwise ops, results of reductions. Each is emitted once for each
// instance in a scope.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/kernel/tree/matrix.hpp"
#include "core/lower/accesses.hpp"

namespace tenon {

class Leaves {
 public:
  using Value = OpTree::Value;

  Leaves(const Kernel& kernel, KernelOps& ops, Positions& positions, ProgramParams& params,
         IndexExprs& exprs, Accesses& accesses)
      : kernel_(kernel),
        ops_(ops),
        positions_(positions),
        params_(params),
        exprs_(exprs),
        accesses_(accesses),
        scopes_(1) {}

  /// Values emitted while it lives are forgotten at its end: later code cannot use them.
  class Scope {
   public:
    explicit Scope(Leaves& leaves) : leaves_(leaves) { leaves_.scopes_.emplace_back(); }
    ~Scope() { leaves_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Leaves& leaves_;
  };

  Value value(const KValueRef& v);
  /// An operand of a matrix atom. `role`: TN_MATRIX_A or TN_MATRIX_B.
  Value fragment(const MatrixOperand& operand, const MatrixAtom& atom, uint64_t role);
  /// A fragment from a register tile: a lane for each offset.
  Value from_registers(int tile, const Expr& index, const std::vector<int64_t>& offsets);
  /// An operand of a DOT: the load's elements along an axis, for each vector lane.
  Value dot_operand(const KValueRef& load, int axis);
  /// Forgets earlier loads: memory has changed.
  void forget() {
    for (Memo& memo : scopes_) memo.clear();
  }
  /// Sets a result of a finished reduction, for the current instance.
  void set_result(int reduction, int state, Value v);

 private:
  struct Key {
    const KValue* what;
    uint64_t instance;
    bool is_dot_operand = false;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const {
      return (std::hash<const void*>()(k.what) * 31 + k.instance) * 2 + k.is_dot_operand;
    }
  };
  using Memo = std::unordered_map<Key, Value, KeyHash>;

  const Value* find(const Key& key) const;
  Value emit(const KValueRef& v);
  Value load(const KValue& v);
  Value elementwise(const KValue& v);

  const Kernel& kernel_;
  KernelOps& ops_;
  Positions& positions_;
  ProgramParams& params_;
  IndexExprs& exprs_;
  Accesses& accesses_;
  std::vector<Memo> scopes_;
  std::map<std::tuple<int, int, uint64_t>, Value> results_;  ///< (reduction, state, instance)
};

}  // namespace tenon
