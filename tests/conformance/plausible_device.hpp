// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A correct device as careless as its profile allows: sums in random trees, products fused,
// subnormals lost, functions off by up to their bound, zeros of any sign. Its rules are written
// down here a second time, so that they check those of the reference.
#pragma once

#include <unordered_map>
#include <vector>

#include "conformance/cases/random.hpp"
#include "core/interval/interval.hpp"

namespace tenon::conformance {

class PlausibleDevice {
 public:
  PlausibleDevice(const Profile& profile, uint64_t seed) : profile_(profile), random_(seed) {}

  /// A graph that is legal for the device, without IF and LOOP.
  std::vector<Array> run(const Graph& graph, const std::vector<Array>& inputs,
                         const SymbolValues& symbols);

 private:
  using Operands = std::vector<const Array*>;
  bool may(uint32_t numerics) { return (profile_.numerics & numerics) && random_.chance(50); }
  bool lost(double x) const;  ///< the profile says nothing about such an operand or result
  double garbage();
  double lose_subnormal(double x, DType dtype);
  double read(double x, DType dtype);
  Scalar write(double exact, DType dtype);
  Scalar round_short(Op op, double exact, DType dtype);

  Array node(const Node& node, const Operands& operands, const SymbolValues& symbols);
  Array elementwise(const Node& node, const Operands& operands);
  Array cast(const Node& node, const Array& x);
  Array reduce(const Node& node, const Array& x);
  Scalar compute(Op op, DType dtype, const double* x);
  Scalar combine(Op op, DType dtype, const Scalar& a, const Scalar& b);
  /// The operands of a product that may be fused with what reads it.
  const Operands* product(const NodeRef& node) const;

  Profile profile_;
  Random random_;
  std::unordered_map<const Node*, Array> values_;
  std::unordered_map<const Node*, Operands> operands_;
};

}  // namespace tenon::conformance
