// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled program: an object file, and linked code if there is a device.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/cpu/compiler.hpp"
#include "plugins/cpu/linker.hpp"
#include "plugins/cpu/target.hpp"
#include "sdk/backend/host_device.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::cpu {

class CpuExecutable : public sdk::HostExecutable {
 public:
  /// `link`: link the code for launches.
  static std::unique_ptr<CpuExecutable> compile(const sdk::ProgramView& program,
                                                const TargetSpec& target, bool link);
  /// Throws TN_ERROR_INCOMPATIBLE for bytes that were not saved by this build for this target.
  static std::unique_ptr<CpuExecutable> load(std::span<const std::byte> bytes,
                                             const TargetSpec& target, bool link);

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;

  /// Null if it was compiled without a device.
  KernelEntry entry() const { return linked_ ? linked_->entry() : nullptr; }
  uint64_t scratch_bytes() const { return object_.scratch_bytes; }
  size_t object_bytes() const { return object_.bytes.size(); }

  /// Time of one workgroup in the last launch; 0 before the first. A hint whether to wake threads.
  float workgroup_ns() const { return workgroup_ns_.load(std::memory_order_relaxed); }
  void set_workgroup_ns(float ns) const { workgroup_ns_.store(ns, std::memory_order_relaxed); }

 private:
  CpuExecutable(sdk::Program program, TargetSpec target, Object object, bool link);

  sdk::Program program_;
  TargetSpec target_;
  Object object_;
  std::optional<LinkedObject> linked_;
  mutable std::atomic<float> workgroup_ns_{0};
};

/// The executable of a launch.
inline const CpuExecutable& executable_of(const sdk::HostCommand& command) {
  return static_cast<const CpuExecutable&>(*command.executable);
}

}  // namespace tenon::cpu
