// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/metrics.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "frontend/formats/append_file.hpp"
#include "frontend/formats/host_array.hpp"

namespace tenon::formats {
namespace {

std::string in_json(const Metrics& row) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : row) {
    const std::string number = std::isfinite(value) ? fmt::format("{}", value) : "null";
    fields.push_back(nlohmann::json(name).dump() + ":" + number);
  }
  return fmt::format("{{{}}}\n", fmt::join(fields, ","));
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string csv_names(const Metrics& row) {
  std::vector<std::string> names;
  for (const auto& [name, value] : row) names.push_back(csv_field(name));
  return fmt::format("{}", fmt::join(names, ","));
}

std::string csv_values(const Metrics& row) {
  std::vector<double> values;
  for (const auto& [name, value] : row) values.push_back(value);
  return fmt::format("{}\n", fmt::join(values, ","));
}

void check_names(const std::string& path, const Metrics& row) {
  TN_REQUIRE(!row.empty(), "{}: expected a row of at least one number, got none", path);
  for (const auto& [name, value] : row) {
    bool is_text = !name.empty() && name.find_first_of("\r\n") == std::string::npos;
    try {
      nlohmann::json(name).dump();
    } catch (const nlohmann::json::exception&) {
      is_text = false;
    }
    TN_REQUIRE(is_text, "{}: expected names of one line in UTF-8, got '{}'", path, shortened(name));
  }
}

}  // namespace

MetricsWriter::MetricsWriter(const std::string& path) : is_csv_(path.ends_with(".csv")) {
  TN_REQUIRE(is_csv_ || path.ends_with(".jsonl"),
             "{}: expected a name that ends in .csv or .jsonl, got another", path);
  file_ = std::make_unique<AppendFile>(path, AppendFile::Open::kOld);
  file_->cut_unfinished_line();
}

MetricsWriter::MetricsWriter(MetricsWriter&&) noexcept = default;
MetricsWriter& MetricsWriter::operator=(MetricsWriter&&) noexcept = default;
MetricsWriter::~MetricsWriter() = default;

void MetricsWriter::write(const Metrics& row) {
  TN_REQUIRE(file_, "[metrics] expected an open file, got a writer that was moved from");
  check_names(file_->path(), row);
  if (!is_csv_) return file_->append(in_json(row));
  const std::string names = csv_names(row);
  if (file_->size() == 0) return file_->append(names + "\n" + csv_values(row));
  const std::string first = file_->first_line();
  TN_REQUIRE(first == names, "{}: expected the names {}, got {}", file_->path(), shortened(first),
             shortened(names));
  file_->append(csv_values(row));
}

}  // namespace tenon::formats
