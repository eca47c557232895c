// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The profile that a plugin declares beside the one that it really met.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/report.hpp"

namespace tenon::conformance::report {

/// One freedom that a profile may claim.
struct Freedom {
  Needs bit;
  std::string_view name;      ///< in report.json: "flush"
  std::string_view declared;  ///< "flushes subnormals"
  std::string_view kept;      ///< "keeps subnormals": without it
};
/// Of all bits of Needs.
const std::vector<Freedom>& freedoms();

struct ProfileVerdict {
  uint32_t declared = 0;  ///< Needs bits that the declaration claims
  uint32_t needed = 0;    ///< Needs bits that passing cases made use of
  /// "declares relaxed, met strict"; empty if the declaration is as tight as can be.
  std::vector<std::string> looser;
  std::string proposal;  ///< the tightest profile that all passing cases met: "strict, keeps ..."
};

/// Needs bits of DeviceFacts::declaration.
uint32_t declared_freedoms(std::string_view declaration);
ProfileVerdict judge_profile(const Report& report);

}  // namespace tenon::conformance::report
