// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Campaigns on the plugins of this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/campaign/campaign.hpp"

namespace tenon::conformance {

/// "planted_wrong", "misbehaves_eats". The seed is always the same.
inline campaign::CampaignOptions campaign_on(const std::string& backend, uint64_t begin,
                                             uint64_t cases) {
  const std::filesystem::path build = TENON_BINARY_DIR;
  campaign::CampaignOptions options;
  options.worker.program = (build / "bin/tenon-conformance").string();
  options.worker.target = {backend,
                           build / ("test-plugins/conformance/libtenon_" + backend + ".so")};
  options.seed = 7;
  options.begin = begin;
  options.end = begin + cases;
  return options;
}

/// Of layers alone.
inline Selection selection_of(const std::vector<std::string>& layers) { return {layers, {}}; }

}  // namespace tenon::conformance
