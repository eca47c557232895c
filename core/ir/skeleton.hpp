// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph apart from the values of its constants: what is left is equal for graphs that differ in
// these alone, and some of the constants can be made inputs.
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

/// Where a value that is known enters the rest of the graph: operand `operand` of `node`, or, if
/// `node` is null, output number `operand`. A node of constants alone counts as its value.
struct ConstantUse {
  const Node* node = nullptr;
  size_t operand = 0;
};

class Skeleton {
 public:
  /// Constants of `varying` dtypes may differ; others count among the structure, as do trip counts,
  /// conditions of IF, indices of TAKE and STORE, what pads, and all inside of IF and LOOP.
  Skeleton(const Graph& graph, DTypeSet varying);

  const Graph& graph() const { return graph_; }
  DTypeSet varying() const { return varying_; }
  /// Blind to names, to the values of uses, and to which equal nodes are one node.
  uint64_t hash() const { return hash_; }
  const std::vector<ConstantUse>& uses() const { return uses_; }
  const std::vector<Scalar>& values() const { return values_; }  ///< of each use
  const std::vector<NodeRef>& nodes() const { return order_; }   ///< operands first

  /// What this graph's uses are in `other`: put in their place, they make this graph compute what
  /// the other does. Nothing if the graphs differ in more. Values are compared by their bits, so
  /// -0.0 is not 0.0.
  std::optional<std::vector<Scalar>> values_in(const Skeleton& other) const;

 private:
  const Scalar* known(const NodeRef& node) const;
  bool may_vary(const Node* consumer, size_t operand, DType dtype) const;
  uint64_t hash_use(const Node* consumer, size_t operand, const NodeRef& source);

  Graph graph_;
  DTypeSet varying_;
  std::map<std::string, Expr> names_;  ///< of symbols, as their places
  std::vector<NodeRef> order_;
  FlatMap<const Node*, size_t> number_;       ///< in order_
  std::vector<std::optional<Scalar>> known_;  ///< of order_
  std::vector<uint64_t> hashes_;              ///< of order_; 0 for known ones
  std::vector<ConstantUse> uses_;
  std::vector<Scalar> values_;
  uint64_t hash_ = 0;
};

/// A new input whose elements are what were constants.
struct LiftedInput {
  DType dtype = DType::kVoid;
  int64_t count = 0;  ///< elements
};

/// Where the value of a use is found: element `element` of new input `input`; -1: it stays.
struct LiftedPlace {
  int input = -1;
  int64_t element = 0;
};

/// The skeleton's graph with the new inputs after its own; `places` has one entry a use.
Graph lift(const Skeleton& skeleton, const std::vector<LiftedInput>& inputs,
           const std::vector<LiftedPlace>& places, Builder& builder);

}  // namespace tenon
