// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores of one loop body, side by side.
#pragma once

#include <span>

#include "core/lower/launch_places.hpp"
#include "core/lower/leaves.hpp"

namespace tenon {

class Stores {
 public:
  using Value = OpTree::Value;
  Stores(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
         Positions& positions, LaunchPlaces& places, ProgramParams& params, Guards& guards,
         Accesses& accesses, Leaves& leaves)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        places_(places),
        params_(params),
        guards_(guards),
        accesses_(accesses),
        leaves_(leaves) {}

  void store(std::span<const Statement> run);
  /// Of copies into tiles that are read later: by asynchronous copies where there are such.
  void copy_ahead(std::span<const Statement> run);

 private:
  AxisSet axes_of(const Statement& s);  ///< of each of which it has copies of its own
  /// False, and nothing done, unless the device copies it as it lies in memory.
  bool copy_async(const Statement& s);
  void store_all(std::span<const Statement> run);
  /// Whether a thread is the one that stores for those along places where no axis is open; nothing
  /// if there are none.
  std::optional<Value> first_thread();
  Value is_first_along(Bind place);
  Value both(const std::optional<Value>& mask, Value more);
  void store(const Statement& s, Value v);
  std::optional<Value> mask(const Statement& s);
  /// The kernel touches too much for it to be found in a cache again.
  bool streams(int buffer, int lanes) const;

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  LaunchPlaces& places_;
  ProgramParams& params_;
  Guards& guards_;
  Accesses& accesses_;
  Leaves& leaves_;
  bool is_first_ = false;  ///< only the first thread is where the walk stands
};

}  // namespace tenon
