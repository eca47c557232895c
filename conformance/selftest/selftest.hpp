// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The measure of the tool: campaigns on a plugin with planted bugs, and on benign variants of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon::conformance::selftest {

struct SelftestOptions {
  double seconds = 30;  ///< of new cases, for each variant
  int jobs = 0;         ///< variants at the same time; 0: one a core
  uint64_t seed = 1;
  std::vector<std::string> only;  ///< names; empty: all
  std::string report;             ///< folder, with one for each variant; "" for none
  bool json = false;
  std::string one;  ///< internal: only this variant, here; its report.json on standard output
};

/// What became of one variant.
struct SelftestRow {
  std::string name = {}, kind = {};  ///< of variants.def
  bool benign = false;
  bool tried = false;  ///< the device took a case
  bool found = false;  ///< something failed: good of a bug, a false alarm of a benign one
  double seconds = 0;  ///< until then; of the whole run if nothing failed
  uint64_t cases = 0;
  // Of the failure, shrunk.
  std::string status = {}, failure = {}, text = {};  ///< "FAIL", "mismatch", a sentence
  int nodes = 0;
  int64_t elements = 0;
  double shrink_seconds = 0;
  std::string replay = {};  ///< a command line
};

struct SelftestScore {
  double seconds = 0;  ///< for each variant
  std::vector<SelftestRow> rows;

  int planted() const;
  int found() const;
  int benign() const;
  int false_alarms() const;
  /// Of the bugs that were found and shrunk; 0 if there are none.
  double median(double (*value)(const SelftestRow&)) const;
};

/// How many of the 190 bugs have to be found in so many seconds each.
int found_bar(double seconds);

std::string to_text(const SelftestScore& score);
std::string to_json(const SelftestScore& score);

/// libtenon_planted.so beside this program. Throws kEnvironment if it is not there.
std::filesystem::path planted_plugin();

/// A process for each variant. Throws kInvalid for names that mean nothing.
SelftestScore run_selftest(const SelftestOptions& options);

/// The command; gives the exit code.
int selftest_command(const SelftestOptions& options);

}  // namespace tenon::conformance::selftest
