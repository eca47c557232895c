// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses, lanes and masks of loads and stores.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "core/ir/capabilities.hpp"
#include "core/lower/guards.hpp"
#include "core/lower/index_exprs.hpp"

namespace tenon {

struct Access {
  OpTree::Value index = 0;  ///< one for each lane, or the first of contiguous lanes
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

  /// The access's own mask and the guards on one of these axes; nothing if there is none.
  std::optional<Value> mask(const Expr& index, const Expr& own, const AxisSet& concerned);
  std::optional<Value> mask(const KValue& load);
  /// `spread`: the mask differs between lanes, so each lane needs an index.
  Access at(int buffer, const Expr& index, bool spread);
  /// Contiguous elements from a uniform index on.
  Access contiguous(int buffer, const Expr& first, int lanes);

 private:
  /// An index as base + lane number, if it has that form.
  struct LaneForm {
    bool contiguous = false;
    Expr base;
  };
  const LaneForm& lane_form(const Expr& index);
  int64_t alignment(int buffer) const;  ///< bytes
  /// The address of an index, after the swizzle if the tile has one.
  Value place(int buffer, const Expr& index);
  Value swizzled(const KernelBuffer& b, Value index);

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  Guards& guards_;
  IndexExprs& exprs_;
  /// For each vector axis, by index; the kernel keeps these alive.
  std::map<int, std::unordered_map<const Expr::Node*, LaneForm>> lane_forms_;
};

}  // namespace tenon
