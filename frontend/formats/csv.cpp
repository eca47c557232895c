// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/csv.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>

#include "core/support/error.hpp"
#include "frontend/formats/host_array.hpp"
#include "tenon/file_io.hpp"
#include "tenon/number.hpp"

namespace tenon::formats {
namespace {

/// Takes rows off a text.
class RowReader {
 public:
  RowReader(std::string_view text, const std::string& origin, const CsvOptions& options)
      : text_(text),
        origin_(origin),
        separator_(options.separator),
        stray_quotes_(options.stray_quotes) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  /// False at the end of the text.
  bool next(std::vector<std::string>& row) {
    while (accept_line_end()) {
    }
    if (at_ == text_.size()) return false;
    row_line_ = line_;
    row.clear();
    do {
      const bool is_quoted = peek() == '"';
      row.push_back(is_quoted ? quoted(row.size()) : std::string());
      if (!is_quoted || stray_quotes_) row.back() += plain(row.size() - 1);
    } while (accept(separator_));
    if (at_ != text_.size() && !accept_line_end())
      error(row.size(), "a separator or the end of the line after a quote", "more text");
    return true;
  }
  int64_t row_line() const { return row_line_; }

  [[noreturn]] void error(size_t column, std::string_view expected, std::string_view got) const {
    fail(ErrorKind::kInvalid, "{}: line {}, column {}: expected {}, got {}", origin_, line_, column,
         expected, got);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool is_line_end(size_t at) const {
    return at < text_.size() && (text_[at] == '\n' || text_[at] == '\r');
  }
  bool accept_line_end() {
    const std::string_view rest = text_.substr(at_);
    const size_t size = rest.starts_with("\r\n") ? 2 : is_line_end(at_) ? 1 : 0;
    at_ += size;
    line_ += size != 0 ? 1 : 0;
    return size != 0;
  }
  std::string plain(size_t column) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && !is_line_end(at_)) ++at_;
    const std::string_view field = text_.substr(begin, at_ - begin);
    if (!stray_quotes_ && field.find('"') != std::string_view::npos)
      error(column + 1, "a quote to begin its field", fmt::format("'{}'", shortened(field)));
    return std::string(field);
  }
  std::string quoted(size_t column) {
    const int64_t begin = line_;
    std::string field;
    for (++at_;; ++at_) {
      if (at_ == text_.size())
        error(column + 1, fmt::format("the end of the quote of line {}", begin), "the end");
      if (text_[at_] == '"' && (++at_ == text_.size() || text_[at_] != '"')) return field;
      line_ +=
          text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_ + 1, 1) != "\n") ? 1 : 0;
      field += text_[at_];
    }
  }

  std::string_view text_;
  const std::string& origin_;
  char separator_;
  bool stray_quotes_;
  size_t at_ = 0;
  int64_t line_ = 1, row_line_ = 1;
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// As scalar_from_string, and what NumPy, pandas, Java and Rust write: "NaN", "Infinity", "+1",
/// "True".
std::optional<Scalar> value_of(DType dtype, std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.starts_with('+') && lower.size() > 1 && lower[1] != '-' && lower[1] != '+')
    lower.erase(0, 1);
  if (lower == "true" || lower == "false") return Number(lower == "true" ? 1 : 0).in(dtype);
  const size_t sign = lower.starts_with('-') ? 1 : 0;
  if (lower.substr(sign) == "infinity") lower.resize(sign + 3);
  if (lower == "-nan") lower = "nan";
  return scalar_from_string(dtype, lower);
}

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& origin, const CsvOptions& options) {
  TN_REQUIRE(options.separator != '"' && options.separator != '\n' && options.separator != '\r',
             "{}: expected a separator that is no quote and no line end", origin);
  CsvTable table;
  table.origin_ = origin;
  table.empty_ = options.empty;
  RowReader reader(text, origin, options);
  std::vector<std::string> row;
  if (options.header && reader.next(row)) {
    table.columns_ = row.size();
    table.names_ = row;
  }
  while (reader.next(row)) {
    if (table.lines_.empty() && !options.header) table.columns_ = row.size();
    TN_REQUIRE(row.size() == table.columns_, "{}: line {}: expected {} fields, got {}", origin,
               reader.row_line(), table.columns_, row.size());
    table.lines_.push_back(reader.row_line());
    std::ranges::move(row, std::back_inserter(table.fields_));
  }
  return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  return parse_csv(read_file(path), path, options);
}

void CsvTable::require_column(size_t column) const {
  TN_REQUIRE(column < columns_, "{}: expected a column below {}, got {}", origin_, columns_,
             column);
}

size_t CsvTable::column(std::string_view name) const {
  TN_REQUIRE(std::ranges::count(names_, name) < 2,
             "{}: expected a column's name that stands once, got '{}'", origin_, shortened(name));
  const auto found = std::ranges::find(names_, name);
  TN_REQUIRE(found != names_.end(), "{}: expected one of the columns {}, got '{}'", origin_,
             fmt::join(names_, ", "), name);
  return static_cast<size_t>(found - names_.begin());
}

const std::string& CsvTable::text(size_t row, size_t column) const {
  require_column(column);
  TN_REQUIRE(row < rows(), "{}: expected a row below {}, got {}", origin_, rows(), row);
  return fields_[row * columns_ + column];
}

Array CsvTable::array(size_t column, DType dtype) const {
  Array array = matrix(std::span(&column, 1), dtype);
  array.shape = {static_cast<int64_t>(rows())};
  return array;
}

Array CsvTable::matrix(DType dtype) const {
  std::vector<size_t> all(columns_);
  std::iota(all.begin(), all.end(), size_t{0});
  return matrix(all, dtype);
}

Array CsvTable::matrix(std::span<const size_t> columns, DType dtype) const {
  for (const size_t column : columns) require_column(column);
  Array array = host_array(origin_, dtype,
                           {static_cast<int64_t>(rows()), static_cast<int64_t>(columns.size())});
  int64_t place = 0;
  for (size_t row = 0; row < rows(); ++row) {
    for (const size_t column : columns) {
      const std::string& field = fields_[row * columns_ + column];
      const std::string_view text = trimmed(field);
      const std::optional<Scalar> value =
          text.empty() && empty_ ? Number(*empty_).in(dtype) : value_of(dtype, text);
      TN_REQUIRE(value, "{}: line {}, column {}{}: expected a value of {}, got '{}'", origin_,
                 lines_[row], column + 1,
                 names_.empty() ? "" : fmt::format(" ({})", names_[column]), dtype_name(dtype),
                 shortened(field));
      array.set(place++, *value);
    }
  }
  return array;
}

Array CsvTable::classes(size_t column, std::vector<std::string>* names) const {
  require_column(column);
  std::vector<std::string> sorted;
  for (size_t row = 0; row < rows(); ++row) sorted.push_back(text(row, column));
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  Array array = host_array(origin_, DType::kI64, {static_cast<int64_t>(rows())});
  for (size_t row = 0; row < rows(); ++row) {
    const auto place = std::ranges::lower_bound(sorted, text(row, column)) - sorted.begin();
    array.set(static_cast<int64_t>(row), Scalar::of_int(DType::kI64, place));
  }
  if (names != nullptr) *names = std::move(sorted);
  return array;
}

}  // namespace tenon::formats
