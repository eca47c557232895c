// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands of tenon-conformance. Each returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "conformance/cases/exit_code.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::commands {

/// Times by name, in seconds.
struct Budget {
  const char* name;
  double seconds;     ///< no new cases after it
  double shrink_one;  ///< of the failures
  double shrink_all;  ///< is part of `seconds`; 0: beyond them, and without a limit
};
inline constexpr Budget kBudgets[] = {
    {"smoke", 30, 3, 10}, {"ci", 300, 10, 0}, {"nightly", 4 * 3600, 10, 0}};

struct RunOptions {
  std::string backend;  ///< one term of TENON_DEVICES
  std::string plugin;   ///< a file; its name says the backend, if there is no other word of it
  std::string target;   ///< that need not be there
  std::string keep;     ///< folder for what `compile` made; "" for none
  uint64_t seed = 1;
  /// 0: all of `run`; of `fuzz` 10,000, or 100 of what `only` names, or without end if there is a
  /// time.
  uint64_t cases = 0;
  uint64_t first = 0;  ///< case of `fuzz`
  double seconds = 0;  ///< 0: no limit
  int jobs = 1;
  std::vector<std::string> layers;  ///< of kLayerNames; empty: all
  std::vector<std::string> only;    ///< as Selection takes them; empty: all
  int stop_after = 0;               ///< failures; 0: never
  bool no_shrink = false;
  std::string report;        ///< folder; "" for none
  std::string expectations;  ///< file; "" for the one that comes with the tool
  std::string regressions;   ///< folder of reproducers: replayed, and new ones written; "" for none
  double run_seconds = 5, compile_seconds = 20, start_seconds = 30;
  uint64_t memory_mib = 4096;  ///< of a worker process; 0: no limit
  std::string budget;          ///< smoke, ci, nightly: a time by name; "" for none
  bool resume = false, no_vote = false, no_recheck = false;
  uint32_t steps = 200;  ///< of `train`
  bool json = false, stats = false;
};

int list_command(bool json);
int run_command(const RunOptions& options, bool fuzz);
int compile_command(const RunOptions& options);
int replay_command(const RunOptions& options, const std::string& what);
/// Proves the core's gradients on graphs of the generator; no plugin takes part.
int gradients_command(const RunOptions& options);
/// Trains small models on the plugin and judges each step; `what` are names of kTrainingNames, all
/// if there are none. Those that fail are written to the folder of --report.
int train_command(const RunOptions& options, const std::vector<std::string>& what);
int report_command(const std::string& file, const std::string& folder);
/// What changed between two report.json; kExitFailures if anything got worse.
int compare_command(const std::string& before_file, const std::string& after_file, double factor,
                    bool json);

/// Throws kInvalid if neither is given, or the file's name is not libtenon_<backend>.so of the
/// backend that is given too.
Target make_target(const RunOptions& options);
/// The target, and what a process for it may take. Throws as make_target.
worker::WorkerOptions make_worker(const RunOptions& options);

}  // namespace tenon::conformance::commands
