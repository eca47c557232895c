// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the failures of a run to the entries of its report: one a bucket, the smallest case of each.
#pragma once

#include <vector>

#include "conformance/campaign/campaign.hpp"

namespace tenon::conformance::campaign {

/// `failures` by index. Shrinks at most options.most_shrunk of them; counts what turns out FLAKY.
void gather_failures(const CampaignOptions& options, const std::vector<Finished>& failures,
                     report::Report& report);

}  // namespace tenon::conformance::campaign
