// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The growing graph of layer 2: a pool of nodes, each with bounds of its values, and the repairs
// that keep an op inside its domain.
#pragma once

#include <vector>

#include "conformance/cases/choices.hpp"
#include "conformance/cases/graphs/values.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::graphs {

/// A node and the range that its elements have for conditioned values.
struct Entry {
  NodeRef node;
  double low = 0, high = 0;
  double magnitude() const;
};

class Grower {
 public:
  /// `flags`: TemplateFlags.
  Grower(Choices& choices, Builder& builder, uint32_t flags);

  Choices& choices() { return choices_; }
  Builder& build() { return build_; }
  const std::vector<Entry>& pool() const { return pool_; }
  const std::vector<std::pair<NodeRef, Domain>>& params() const { return params_; }
  DType main_float() const { return main_float_; }
  DType main_int() const { return main_int_; }

  /// Largest element count that a node may have.
  static constexpr int64_t kBudget = 6000;
  bool fits(const Shape& shape) const;

  Entry param(DType dtype, const Shape& shape);
  Entry param(DType dtype, const Shape& shape, const Domain& domain);
  Entry constant(DType dtype, double value, const Shape& shape);
  /// Small numbers mostly, either zero among them; infinities and NaN are rare.
  Entry draw_constant(DType dtype, const Shape& shape);
  Shape draw_shape();  ///< over the sizes of this graph, some axes 1
  Dim draw_dim();      ///< one of the sizes of this graph

  void add(Entry entry) { pool_.push_back(std::move(entry)); }
  /// Another node in place of a param, in the whole pool.
  void replace(const NodeRef& param, const NodeRef& node);
  /// A node of the pool, the younger the likelier; a new param where none fits.
  Entry any();
  Entry any_float();
  Entry any_int();
  Entry any_bool(const Shape& shape);

  /// The same values as far as possible, with another dtype or shape.
  Entry to_dtype(const Entry& x, DType dtype);
  Entry to_shape(const Entry& x, const Shape& shape);

  /// |x| <= limit, by a power of two.
  Entry scaled(const Entry& x, double limit);
  /// x*x + 1/4 where x may be near zero or below it.
  Entry positive(const Entry& x);
  /// Largest magnitude that stays harmless in the dtype.
  static double comfort(DType dtype);

 private:
  Choices& choices_;
  Builder& build_;
  std::vector<Entry> pool_;
  std::vector<std::pair<NodeRef, Domain>> params_;
  std::vector<Dim> sizes_;
  DType main_float_ = DType::kF32, main_int_ = DType::kI32;
};

}  // namespace tenon::conformance::graphs
