// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of text: comma-separated values, as RFC 4180 has them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/export.hpp"

namespace tenon::formats {

struct CsvOptions {
  bool header = true;  ///< the first row names the columns
  char separator = ',';
  /// The number of a field without text; without one such a field is refused.
  std::optional<double> empty = {};
  /// A quote inside of a field, or text after a closing one, is text. Otherwise it is refused.
  bool stray_quotes = false;
};

/// Rows of equally many fields. Errors name the line and the column.
class TENON_API CsvTable {
 public:
  size_t rows() const { return lines_.size(); }
  size_t columns() const { return columns_; }
  const std::vector<std::string>& names() const { return names_; }  ///< none without a header
  /// Throws kInvalid, naming those that there are.
  size_t column(std::string_view name) const;
  const std::string& text(size_t row, size_t column) const;

  /// A column as an array [rows]; spaces around a number are skipped. In letters of either case:
  /// nan, inf and infinity with a sign or without are floats, true and false are 1 and 0. Throws
  /// kInvalid for a field that is no value of the dtype.
  Array array(size_t column, DType dtype) const;
  /// All columns, or those given, side by side [rows, columns].
  Array matrix(DType dtype) const;
  Array matrix(std::span<const size_t> columns, DType dtype) const;
  /// A column of names as their places among the sorted names that occur, i64 [rows].
  Array classes(size_t column, std::vector<std::string>* names = nullptr) const;

 private:
  friend TENON_API CsvTable parse_csv(std::string_view text, const std::string& origin,
                                      const CsvOptions& options);
  void require_column(size_t column) const;

  std::string origin_;
  size_t columns_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string> fields_;  ///< row after row
  std::vector<int64_t> lines_;       ///< in which each row begins
  std::optional<double> empty_;
};

/// Fields may stand in double quotes, in which separators and line ends are text and "" is a quote;
/// lines end with \n, \r\n or \r, and empty ones are skipped. Throws kEnvironment for what the
/// system refuses, kInvalid with line and column for quotes that do not end, text after a closing
/// quote, and rows of other lengths.
TENON_API CsvTable read_csv(const std::string& path, const CsvOptions& options = {});
TENON_API CsvTable parse_csv(std::string_view text, const std::string& origin,
                             const CsvOptions& options = {});

}  // namespace tenon::formats
