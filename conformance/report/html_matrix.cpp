// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The op x dtype matrix, and its cells one by one.
#include <algorithm>

#include "conformance/report/html.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/verdict.hpp"
#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

struct Group {
  std::string_view name;
  std::vector<std::string_view> ops;  ///< names, or beginnings that end with a dot
  bool folds = false;                 ///< when every cell of it passes
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"Elementwise", {}},  // whatever is in no other
      {"Moves, indexing, control",
       {"reshape", "expand", "permute", "pad", "shrink", "flip", "take", "store.", "index", "const",
        "param", "if", "loop", "while"}},
      {"Reductions", {"reduce."}},
      {"Casts", {"cast."}, true},
      {"Bit casts", {"bitcast."}, true},
      {"Refusals: ops that the device does not claim", {"unclaimed."}, true},
      {"Graphs and schedules", {"graph", "schedule", "kernel"}},
  };
  return all;
}

size_t group_of(const std::string& op) {
  for (size_t i = 1; i < groups().size(); ++i)
    for (const std::string_view name : groups()[i].ops)
      if (op == name || (name.ends_with('.') && op.starts_with(name))) return i;
  return 0;
}

using Rows = std::map<std::string, std::map<std::string, const CellRow*>>;  ///< by op, dtype

std::string short_text(const CellRow& row) {
  return fmt::format("{} {}: {}", row.op, row.dtype, counts_text(row.counts));
}

std::string matrix_cell(const CellRow& row) {
  const Status status = headline(row.counts);
  return fmt::format(
      "<td><a class={} href=\"#{}\"{} title=\"{}\"><i aria-hidden=true>{}</i></a></td>",
      look(status).css, cell_id(row.op, row.dtype), filter_data(row.op, row.dtype, status),
      escape_markup(short_text(row)), look(status).symbol);
}

std::string matrix(const Rows& rows) {
  std::string out =
      "<div class=scroll><table class=matrix><thead><tr><th scope=col><span class=skip>op</span>"
      "</th>";
  for (const DType dtype : all_dtypes())
    out += fmt::format("<th scope=col>{}</th>", dtype_name(dtype));
  out += "</tr></thead><tbody>\n";
  for (const auto& [op, cells] : rows) {
    out += fmt::format("<tr><th scope=row>{}</th>", escape_markup(op));
    for (const DType dtype : all_dtypes()) {
      const auto cell = cells.find(std::string(dtype_name(dtype)));
      out += cell == cells.end() ? "<td></td>" : matrix_cell(*cell->second);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

std::string group_block(const Group& group, const Rows& rows) {
  Counts states{};
  uint64_t cells = 0;
  for (const auto& [op, by_dtype] : rows)
    for (const auto& [dtype, row] : by_dtype) {
      ++cells;
      ++states[static_cast<size_t>(headline(row->counts))];
    }
  const bool quiet = of(states, Status::kPass) == cells;
  return fmt::format(
      "<details class=\"group ops\"{}><summary>{}<span>{}, {}</span></summary>{}</details>\n",
      quiet && group.folds ? "" : " open", group.name, counted(cells, "cell"),
      quiet ? "all pass" : counts_text(states), matrix(rows));
}

std::string legend(const Report& r) {
  Counts states{};
  for (const auto& [key, row] : r.cells) ++states[static_cast<size_t>(headline(row.counts))];
  std::string out = "<ul class=legend>";
  for (int i = 0; i < kStatusCount; ++i) {
    const auto status = static_cast<Status>(i);
    if (of(states, status))
      out += fmt::format("<li>{}{}</li>", badge(status), look(status).meaning);
  }
  return out + "<li>empty: not a cell, or never reached</li></ul>";
}

}  // namespace

std::string matrix_section(const Report& r) {
  std::vector<Rows> grouped_rows(groups().size());
  for (const auto& [key, row] : r.cells)
    if (is_cell(row)) grouped_rows[group_of(row.op)][row.op][row.dtype] = &row;
  std::string out =
      "<h2 id=matrix>Ops and dtypes</h2><p>Each cell is an op on a dtype, over all layouts and "
      "values tried; its mark is the worst that happened. A cell leads to its numbers.</p>" +
      legend(r);
  for (size_t i = 0; i < groups().size(); ++i)
    if (!grouped_rows[i].empty()) out += group_block(groups()[i], grouped_rows[i]);
  return "<section>" + out + "</section>";
}

std::string table_section(const Report& r) {
  std::string out =
      "<section><h2 id=table>All cells</h2><details class=\"card long\"><summary>Cases, statuses, "
      "worst "
      "errors and layouts of each</summary><div class=scroll><table class=list id=cells>" +
      table_head(
          {"op", "dtype", "result", "cases", "statuses", "vacuous", "worst ULP", "at", "layouts"});
  for (const auto& [key, row] : r.cells) {
    if (!is_cell(row)) continue;
    const Status status = headline(row.counts);
    std::string layouts;
    for (const auto& [layout, cases] : row.layouts)
      layouts += fmt::format("{}{} {}", layouts.empty() ? "" : ", ", layout, cases);
    out += fmt::format(
        "<tr id=\"{}\" class=filtered{}><th scope=row>{}</th><td>{}</td><td>{}{}</td><td "
        "class=num>{}</td><td>{}</td><td class=num>{}</td><td class=num>{}</td><td>{}</td><td>{}"
        "</td></tr>\n",
        cell_id(row.op, row.dtype), filter_data(row.op, row.dtype, status), escape_markup(row.op),
        escape_markup(row.dtype), badge(status), status_name(status), grouped(row.cases()),
        counts_text(row.counts),
        of(row.counts, Status::kVacuous) ? fmt::format("{:.1f}%", row.vacuous_share() * 100) : "",
        row.worst_ulp > 0 ? ulp_text(row.worst_ulp) : "", escape_markup(row.worst_input),
        escape_markup(layouts));
  }
  return out + "</tbody></table></div></details></section>";
}

}  // namespace tenon::conformance
