// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loads and stores have in common: where they go, in how many lanes, and for which points.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "core/ir/capabilities.hpp"
#include "core/lower/guards.hpp"
#include "core/lower/index_exprs.hpp"

namespace tenon {

struct Access {
  OpTree::Value index = 0;  ///< of each lane, or of the first of lanes side by side
  int lanes = 1;
  uint32_t flags = 0;  ///< TN_OP_ALIGNED
};

class Accesses {
 public:
  using Value = OpTree::Value;
  Accesses(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
           Positions& positions, Guards& guards, IndexExprs& exprs)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        guards_(guards),
        exprs_(exprs) {}

  /// The access's own mask and the guards that concern one of these axes; nothing if it has none.
  std::optional<Value> mask(const Expr& index, const Expr& own, const AxisSet& concerned);
  std::optional<Value> mask(const KValue& load);
  /// `spread`: its mask differs from lane to lane, so it needs an index for each.
  Access at(int buffer, const Expr& index, bool spread);
  /// Elements side by side from an index on, the same for all lanes.
  Access beside(int buffer, const Expr& first, int lanes);

 private:
  /// An index as the first lane's and the lane's number, if it is of that form.
  struct LaneForm {
    bool contiguous = false;
    Expr base;
  };
  const LaneForm& lane_form(const Expr& index);
  int64_t alignment(int buffer) const;  ///< bytes
  /// Where the element of an index is: elsewhere in tiles of lines.
  Value place(int buffer, const Expr& index);
  Value exchanged(const KernelBuffer& b, Value index);

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  Guards& guards_;
  IndexExprs& exprs_;
  /// Of each vector axis, by the index, which lives as long as the kernel.
  std::map<int, std::unordered_map<const Expr::Node*, LaneForm>> lane_forms_;
};

}  // namespace tenon
