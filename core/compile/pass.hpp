// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes from a graph to the programs of its kernels, and who is told of each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// In the order in which they run.
enum class Pass : uint8_t {
  kInline,
  kRules,
  kPrecision,
  kSimplify,
  kSchedule,
  // Of each kernel:
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
  const std::function<std::string()>& text;  ///< what the pass gave; printed when it is called
};

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// After each pass. Kernels take theirs at the same time, but one call ends before the next.
  virtual void saw(const PassReport& report) = 0;
};

}  // namespace tenon
