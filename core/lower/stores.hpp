// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits adjacent stores of a loop body.
#pragma once

#include <span>

#include "core/lower/launch_dims.hpp"
#include "core/lower/leaves.hpp"

namespace tenon {

class Stores {
 public:
  using Value = OpTree::Value;
  Stores(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
         Positions& positions, LaunchDims& launch, ProgramParams& params, Guards& guards,
         Accesses& accesses, Leaves& leaves)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        launch_(launch),
        params_(params),
        guards_(guards),
        accesses_(accesses),
        leaves_(leaves) {}

  void store(std::span<const Statement> run);
  /// Copies into tiles that are read in a later iteration; asynchronously if the device can.
  void copy_ahead(std::span<const Statement> run);

 private:
  AxisSet axes_of(const Statement& s);  ///< that a store has instances of
  /// False, and does nothing, if the device cannot do the copy asynchronously.
  bool copy_async(const Statement& s);
  void store_all(std::span<const Statement> run);
  /// The condition that a thread is the first along block dimensions without an open axis; nothing
  /// if there are none.
  std::optional<Value> first_thread();
  Value is_first_along(Bind place);
  Value both(const std::optional<Value>& mask, Value more);
  void store(const Statement& s, Value v);
  std::optional<Value> mask(const Statement& s);
  /// True if the kernel touches more memory than the cache holds: stores then bypass the cache.
  bool streams(int buffer, int lanes) const;

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  LaunchDims& launch_;
  ProgramParams& params_;
  Guards& guards_;
  Accesses& accesses_;
  Leaves& leaves_;
  bool is_first_ = false;  ///< inside a branch of the first thread
};

}  // namespace tenon
