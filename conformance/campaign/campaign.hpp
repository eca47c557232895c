// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole run: shares out the cases over workers, gathers outcomes, then confirms and shrinks the
// failures.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "conformance/campaign/progress.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/selection.hpp"
#include "conformance/report/expectations.hpp"
#include "conformance/report/report.hpp"
#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::campaign {

/// The end of a run that only time ends.
inline constexpr uint64_t kEndless = kRunBase;

struct CampaignOptions {
  worker::WorkerOptions worker;
  uint64_t seed = 0, begin = 0, end = 0;  ///< indices [begin, end)
  std::optional<uint64_t> count;          ///< of these, how many are selected; unset: all
  std::optional<double> seconds;          ///< no new cases after so long
  Selection selection;                    ///< of the indices
  int jobs = 1;
  std::optional<std::filesystem::path> folder;  ///< for journals, logs and reproducers
  report::Expectations expectations;
  ProgressLine::Form progress = ProgressLine::Form::kNone;
  bool announces = false;  ///< says how much there is to do before it begins
  int most_shrunk = 20;    ///< failures that are shrunk; the others are named by case
  double shrink_seconds = 10;
  std::optional<double> shrink_all_seconds;  ///< all of them; what `seconds` keeps for it
  /// Folders whose reproducer files run before the cases, as cells of layout "regression".
  std::vector<std::filesystem::path> replayed;
  std::optional<std::filesystem::path> regressions;  ///< folder for a file of each new failure
  int stop_after = 0;             ///< failures after which no new case begins; 0: never
  bool probe = true;              ///< workers first answer a case with a known answer
  uint64_t recheck_one_in = 200;  ///< of the passing cases, run again in a fresh process; 0: none
  bool vote = false;              ///< other installed plugins run the shrunk failures
  bool stoppable = false;         ///< SIGINT and SIGTERM end the run with its report
  std::function<bool()>
      stopped;          ///< set by run_campaign: a signal, or the time; nothing more is shrunk
  bool lost = false;    ///< set by run_campaign: the device was lost three times
  bool async = false;   ///< set by run_campaign: the device has timelines
  bool resume = false;  ///< go on with the run whose folder this is
  uint64_t cases() const { return count.value_or(end - begin); }
};

struct Campaign {
  report::Report report;
  bool lost = false;         ///< the device was lost three times
  bool in_doubt = false;     ///< it did not start, or did not know the known answer, three times
  bool memory_only = false;  ///< it computes nothing: only memory and layer 4 were tried
  int signal = 0;            ///< that asked it to stop; 0: none
};

/// Throws kEnvironment if the plugin cannot be loaded.
Campaign run_campaign(CampaignOptions options);

}  // namespace tenon::conformance::campaign
