// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run needs to go on after it was stopped or killed: state.json in the report's folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/report/expectations.hpp"
#include "conformance/report/report.hpp"
#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::campaign {

struct Checkpoint {
  /// Options that make the cases and their outcomes, by name: they must be the same.
  std::vector<std::pair<std::string, std::string>> options;
  uint64_t next = 0;                ///< the first index that was not given out
  std::vector<worker::Range> todo;  ///< below it, and not done
  std::vector<Finished> failures;
  std::map<std::string, uint64_t> dropped;  ///< FailureBook::dropped
  std::vector<Finished> rechecks;
  report::Expectations::Seen seen;
  report::Report report;
};

/// In one step: a reader finds the old one or the new one. Throws kEnvironment.
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file);
/// Throws kInvalid: no file, a damaged one, or other options, with what differs.
Checkpoint read_checkpoint(const std::filesystem::path& file,
                           const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace tenon::conformance::campaign
