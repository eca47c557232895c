// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>

#include "conformance/campaign/campaign.hpp"
#include "conformance/cases/exit_code.hpp"
#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/selftest/plugin/variants.hpp"
#include "conformance/selftest/selftest.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance::selftest {
namespace {

constexpr int kMostShrunk = 3;  ///< the first may be one that does not come again

/// A campaign until the first failure, on one variant.
int run_one(const SelftestOptions& options) {
  TN_REQUIRE(planted::find_variant(options.one),
             "[selftest] expected a name of the table, got \"{}\"", options.one);
  campaign::CampaignOptions campaign;
  campaign.worker.program = worker::own_program();
  campaign.worker.target = {.backend = "planted:0@bug=" + options.one, .plugin = planted_plugin()};
  campaign.seed = options.seed;
  campaign.end = kRunBase;
  campaign.seconds = options.seconds;
  campaign.stop_after = 1;
  campaign.most_shrunk = kMostShrunk;
  if (!options.report.empty()) campaign.folder = std::filesystem::absolute(options.report);
  const report::Report report = campaign::run_campaign(std::move(campaign)).report;
  write_output(to_json(report));
  return kExitOk;
}

bool is_good(const SelftestScore& score, const SelftestOptions& options) {
  if (score.false_alarms() > 0) return false;
  return score.found() >= (options.only.empty() ? found_bar(options.seconds) : score.planted());
}

}  // namespace

int selftest_command(const SelftestOptions& options) {
  if (!options.one.empty()) return run_one(options);
  const SelftestScore score = run_selftest(options);
  write_output(options.json ? to_json(score) : printable(to_text(score)));
  if (!options.report.empty())
    write_file((std::filesystem::path(options.report) / "selftest.json").string(), to_json(score));
  if (!is_good(score, options)) return kExitFailures;
  return std::ranges::all_of(score.rows, &SelftestRow::tried) ? kExitOk : kExitNothing;
}

}  // namespace tenon::conformance::selftest
