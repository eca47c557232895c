// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Markdown, JUnit XML and CSV.
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

std::string counts_text(const Counts& counts) {
  std::string text;
  for (int i = 0; i < kStatusCount; ++i)
    if (counts[static_cast<size_t>(i)])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[static_cast<size_t>(i)],
                          status_name(static_cast<Status>(i)));
  return text.empty() ? "no cases" : text;
}

std::string xml(std::string_view text) {
  std::string out = escape_markup(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  }
  return out;
}

std::string csv(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string to_markdown(const Report& r) {
  std::string out = fmt::format(
      "# Conformance of {}\n\nPlugin `{}`, device {}, seed {}. Declares: {}.\n\n"
      "**{}** in {:.1f} s, {:.0f} cases per second and core.\n",
      r.backend, r.plugin, r.device, r.seed, r.declaration, counts_text(r.counts), r.seconds,
      r.cases_per_second_per_core());
  if (!r.failures.empty()) out += "\n## Failures\n";
  for (const Failure& f : r.failures) {
    out += fmt::format("\n### {} {} · {} {} {}\n\n{}\n\n    {}\n", status_name(f.status), f.name,
                       f.op, f.dtype, f.layout, f.text, f.replay);
    if (!f.reproducer.empty()) out += fmt::format("\n```\n{}```\n", f.reproducer);
  }
  out +=
      "\n## Ops and dtypes\n\n| op | dtype | cases | result | worst ULP |\n|---|---|--:|---|--:|\n";
  for (const auto& [key, row] : r.cells)
    out += fmt::format("| {} | {} | {} | {} | {:.3g} |\n", row.op, row.dtype, row.cases(),
                       counts_text(row.counts), row.worst_ulp);
  return out;
}

/// One test case a cell: a failure in it carries the texts of all its failures.
std::string to_junit(const Report& r) {
  const auto count = [&](const Counts& counts, bool failed) {
    uint64_t sum = 0;
    for (int i = 0; i < kStatusCount; ++i)
      if (is_failure(static_cast<Status>(i)) == failed) sum += counts[static_cast<size_t>(i)];
    return sum;
  };
  uint64_t failed_cells = 0;
  std::string body;
  for (const auto& [key, row] : r.cells) {
    body += fmt::format("  <testcase classname=\"{}\" name=\"{} {}\">", xml(r.backend), xml(row.op),
                        xml(row.dtype));
    if (count(row.counts, true)) {
      ++failed_cells;
      std::string texts;
      for (const Failure& f : r.failures)
        if (f.op == row.op && f.dtype == row.dtype)
          texts += fmt::format("{} {}: {}\n{}\n", status_name(f.status), f.name, f.text, f.replay);
      body += fmt::format("<failure message=\"{}\">{}</failure>", xml(counts_text(row.counts)),
                          xml(texts));
    } else if (row.counts[static_cast<size_t>(Status::kUnsupported)] == row.cases()) {
      body += "<skipped message=\"unsupported\"/>";
    }
    body += "</testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tenon-conformance {}\" "
      "tests=\"{}\" failures=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n",
      xml(r.backend), r.cells.size(), failed_cells, r.seconds, body);
}

std::string to_csv(const Report& r) {
  std::string out = "op,dtype,supported,cases";
  for (int i = 0; i < kStatusCount; ++i)
    out += fmt::format(",{}", status_name(static_cast<Status>(i)));
  out += ",worst_ulp,worst_input\n";
  for (const auto& [key, row] : r.cells) {
    const uint64_t unsupported = row.counts[static_cast<size_t>(Status::kUnsupported)];
    out += fmt::format("{},{},{},{}", csv(row.op), csv(row.dtype),
                       unsupported == row.cases() ? "no" : "yes", row.cases());
    for (const uint64_t n : row.counts) out += fmt::format(",{}", n);
    out += fmt::format(",{},{}\n", row.worst_ulp, csv(row.worst_input));
  }
  return out;
}

}  // namespace tenon::conformance
