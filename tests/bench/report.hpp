// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the benchmarks found, as JSON for scripts and as a table for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon::bench {

struct Row {
  std::string name;
  double ours = 0;
  std::string unit;
  std::optional<double> peer;   ///< in the same unit
  std::string peer_name;        ///< or why there is none
  std::optional<double> ratio;  ///< above 1: we are faster than the peer
  std::optional<double>
      limit_ratio;    ///< share of the machine's limit; for memory, of a copy in the same rounds
  double spread = 0;  ///< of ours: quartile distance over median
  double best = 0;    ///< of ours, in the same unit; 0: not kept
  std::string wrong;  ///< not empty: the result was wrong, and how
  std::optional<double> lowest_ratio;  ///< of all runs, where there were several
};

struct Limits {
  struct PerThreads {
    int threads = 1;
    double fma_gflops = 0;  ///< f32; 0: not measured on this machine
    double copy_gbs = 0;    ///< bytes read and written; 0: not measured
  };
  std::vector<PerThreads> all;
  const PerThreads& of(int threads) const;
};

struct Machine {
  std::string cpu, kernel, isa, build;
  int cores = 0;
  double load =
      0;  ///< processes that ran in the minute before; above a few tenths rates say little
};

Machine describe_machine();

class Report {
 public:
  Machine machine;
  Limits limits;
  std::vector<Row> rows;
  std::vector<std::string> not_run;  ///< rows for which no time was left

  std::string json() const;
  std::string table() const;
  /// Rows whose value differs from that of a report in JSON by more than both spreads, and those
  /// that one has alone. Throws kInvalid for text that is no report.
  std::string moved_since(const std::string& baseline) const;
  bool correct() const;
  /// Of rows of one name, as several runs add them, the one with the median ratio stays (of an even
  /// number the lower of two; without a ratio the median value), where the first stood; it keeps
  /// what was wrong in any, and the lowest ratio.
  void merge_runs();
};

/// ours and peer are rates (higher is better) or, with `lower_is_better`, times.
std::optional<double> ratio_of(double ours, std::optional<double> peer, bool lower_is_better);

}  // namespace tenon::bench
