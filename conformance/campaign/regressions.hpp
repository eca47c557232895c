// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of reproducer files: what once failed is run again by every `run`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/campaign/campaign.hpp"
#include "conformance/cases/reproducer.hpp"

namespace tenon::conformance::campaign {

struct Regression {
  std::filesystem::path path;
  std::string text;
  Reproducer reproducer;
};

/// Every *.tn of the folders, by name. Throws kInvalid with file and line for what is no
/// reproducer.
std::vector<Regression> load_regressions(const std::vector<std::filesystem::path>& folders,
                                         Builder& builder);

/// Runs them; each is a case of layout "regression" for the report. Returns their failures.
std::vector<report::Failure> replay_regressions(const std::vector<Regression>& regressions,
                                                CampaignOptions& options, report::Report& report);

/// Writes a shrunk failure into the folder, as <backend>-<op>-<hash of the bucket>.tn. Nothing
/// happens if there is a file for its bucket.
void write_regression(const std::filesystem::path& folder, const Target& target,
                      const Reproducer& shrunk, const std::string& transform);

}  // namespace tenon::conformance::campaign
