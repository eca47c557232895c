// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph without the values of its constants. Skeletons are equal for graphs that differ only in
// constants, which can be lifted to inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/build.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {

/// A set of dtypes, one bit for each code.
using DTypeSet = uint32_t;
inline DTypeSet dtype_bit(DType dtype) { return DTypeSet{1} << static_cast<unsigned>(dtype); }

/// A use of a constant: operand `operand` of `node`, or output number `operand` if `node` is null.
/// A node computed only from constants counts as a constant.
struct ConstantUse {
  const Node* node = nullptr;
  size_t operand = 0;
};

class Skeleton {
 public:
  /// Constants of `varying` dtypes may differ. Others are part of the structure, as are trip
  /// counts, conditions of IF, indices of TAKE and STORE, padding values, and constants in IF and
  /// LOOP.
  Skeleton(const Graph& graph, DTypeSet varying);

  const Graph& graph() const { return graph_; }
  DTypeSet varying() const { return varying_; }
  /// Ignores names, the values of uses, and whether equal nodes are shared.
  uint64_t hash() const { return hash_; }
  const std::vector<ConstantUse>& uses() const { return uses_; }
  const std::vector<Scalar>& values() const { return values_; }  ///< of each use
  const std::vector<NodeRef>& nodes() const { return order_; }   ///< operands first

  /// The values that the uses of this graph have in `other`: with them, this graph computes what
  /// `other` does. Empty if the graphs differ in more. Values are compared by bits, so -0.0 is not
  /// 0.0.
  std::optional<std::vector<Scalar>> values_in(const Skeleton& other) const;

 private:
  const Scalar* known(const NodeRef& node) const;
  bool may_vary(const Node* consumer, size_t operand, DType dtype) const;
  uint64_t hash_use(const Node* consumer, size_t operand, const NodeRef& source);

  Graph graph_;
  DTypeSet varying_;
  std::map<std::string, Expr> names_;  ///< of symbols, renamed to their positions
  std::vector<NodeRef> order_;
  FlatMap<const Node*, size_t> number_;       ///< in order_
  std::vector<std::optional<Scalar>> known_;  ///< of order_
  std::vector<uint64_t> hashes_;              ///< of order_; 0 for known ones
  std::vector<ConstantUse> uses_;
  std::vector<Scalar> values_;
  uint64_t hash_ = 0;
};

/// A new input whose elements were constants.
struct LiftedInput {
  DType dtype = DType::kVoid;
  int64_t count = 0;  ///< elements
};

/// Where a use gets its value: element `element` of new input `input`; -1: it stays a constant.
struct LiftedPlace {
  int input = -1;
  int64_t element = 0;
};

/// The graph of the skeleton with new inputs after its own. `places` has one entry for each use.
Graph lift(const Skeleton& skeleton, const std::vector<LiftedInput>& inputs,
           const std::vector<LiftedPlace>& places, Builder& builder);

}  // namespace tenon
