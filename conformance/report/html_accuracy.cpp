// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How exact the device is: plots of the functions, and the largest errors of all.
#include <algorithm>

#include "conformance/report/html.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr size_t kMostRows = 40;

std::string plots(const Report& r) {
  std::string figures, exact;
  for (const auto& [key, row] : r.cells) {
    if (row.ulps.empty()) continue;
    const bool has_error =
        std::ranges::any_of(row.ulps, [](const auto& entry) { return entry.second.ulp > 0; });
    if (has_error)
      figures += plot(row);
    else
      exact += fmt::format("{}{} {}", exact.empty() ? "" : ", ", row.op, row.dtype);
  }
  if (!figures.empty())
    figures =
        "<p>The worst error found in each stretch of the operand, in units in the last "
        "place of the result, both axes logarithmic. The dashed line is what the declared "
        "profile allows; a triangle is an error beyond it.</p><div class=plots>" +
        figures + "</div>";
  if (!exact.empty())
    figures += fmt::format("<p class=sub>The reference's very bits at every operand tried: {}.</p>",
                           escape_markup(exact));
  return figures;
}

std::string largest(const Report& r) {
  std::vector<const CellRow*> rows;
  for (const auto& [key, row] : r.cells)
    if (row.worst_ulp > 0 && is_cell(row)) rows.push_back(&row);
  if (rows.empty()) return {};
  std::ranges::stable_sort(rows, std::greater{}, &CellRow::worst_ulp);
  const bool more = rows.size() > kMostRows;
  rows.resize(std::min(rows.size(), kMostRows));
  std::string out = fmt::format(
      "<h3>Largest errors{}</h3><p>Sums and graphs are judged by an interval around the value, not "
      "in ULP: where terms cancel, a large number here is right.</p><div class=\"card scroll\">"
      "<table class=list>{}",
      more ? fmt::format(", the first {}", kMostRows) : "",
      table_head({"op", "dtype", "worst ULP", "at"}));
  for (const CellRow* row : rows)
    out += fmt::format(
        "<tr class=filtered{}><th scope=row>{}</th><td>{}</td><td "
        "class=num>{}</td><td>{}</td></tr>",
        filter_data(row->op, row->dtype, headline(row->counts)), escape_markup(row->op),
        escape_markup(row->dtype), ulp_text(row->worst_ulp), escape_markup(row->worst_input));
  return out + "</tbody></table></div>";
}

}  // namespace

std::string accuracy_section(const Report& r) {
  const std::string out = plots(r) + largest(r);
  return fmt::format("<section><h2 id=accuracy>Accuracy</h2>{}</section>",
                     out.empty() ? "<p>No float op was tried, or none was off by a bit.</p>" : out);
}

}  // namespace tenon::conformance
