// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that a program tells while it learns, a row at a time, as text for other programs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/export.hpp"

namespace tenon::formats {

class AppendFile;

/// Names and their values, in order.
using Metrics = std::vector<std::pair<std::string, double>>;

/// A file of rows: JSON objects where its name ends in .jsonl, comma-separated values under a row
/// of names in .csv. Numbers have as many digits as tell them apart; what is not finite is null in
/// JSON. Rows are added to a file that is there, whose last row is dropped if it is not whole. Each
/// row is in the file when the call returns, and not at all if the call throws.
class TENON_API MetricsWriter {
 public:
  /// Throws kInvalid for another end of the name, kEnvironment for what the system refuses.
  explicit MetricsWriter(const std::string& path);
  ~MetricsWriter();
  MetricsWriter(MetricsWriter&&) noexcept;
  MetricsWriter& operator=(MetricsWriter&&) noexcept;

  /// Throws kInvalid for names that are empty or not UTF-8 and, in .csv, for other names than the
  /// file has, and of a writer that was moved from.
  void write(const Metrics& row);

 private:
  std::unique_ptr<AppendFile> file_;
  bool is_csv_ = false;
};

}  // namespace tenon::formats
