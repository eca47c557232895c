// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes from a graph to the programs of its kernels, and their observer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// In execution order.
enum class Pass : uint8_t {
  kInline,
  kRules,
  kPrecision,
  kSimplify,
  kSchedule,
  // For each kernel:
  kLegalise,
  kBuild,
  kChoose,
  kEmit,
  kPack,
  kSplit,
};

struct PassInfo {
  std::string_view name;
  std::string_view gives;
};
std::span<const PassInfo> all_passes();
const PassInfo& pass_info(Pass pass);

struct PassReport {
  Pass pass;
  std::string_view subject;  ///< the graph's name, or the kernel's
  double ms = 0;
  const std::function<std::string()>& text;  ///< prints the pass's result
};

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// Called after each pass. Kernels are compiled in parallel, but calls do not overlap.
  virtual void saw(const PassReport& report) = 0;
};

}  // namespace tenon
