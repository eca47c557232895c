// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One self-contained page: the op x dtype table, the ULP bars and the failures.
#include <algorithm>
#include <cmath>
#include <set>

#include "conformance/report/report.hpp"
#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr std::string_view kStyle = R"(
:root{--bg:#fbfbfa;--fg:#1d2227;--soft:#6b747d;--line:#e3e5e7;--card:#fff;--pass:#2f9e62;--fail:#d43d3d;
--vac:#c9962b;--uns:#b9c0c7;--x:#5b6ee0}
@media(prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e9ec;--soft:#98a2ab;--line:#2b3136;--card:#1c2024}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1180px;margin:0 auto;padding:40px 24px 80px}
h1{font-size:28px;margin:0 0 4px;letter-spacing:-.01em}h2{font-size:19px;margin:44px 0 12px}
p.sub{color:var(--soft);margin:0 0 24px}code,pre,.mono{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:13px}
.tiles{display:flex;flex-wrap:wrap;gap:12px}.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:12px 18px;min-width:112px}.tile b{display:block;font-size:24px;font-weight:600;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:12px;letter-spacing:.04em}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card)}
table{border-collapse:collapse;width:100%}th,td{padding:3px 8px;font-size:13px;text-align:center;white-space:nowrap}
thead th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--line);font-weight:600;padding:8px}
tbody th{text-align:left;font-weight:500;padding-left:14px;font-family:ui-monospace,"DejaVu Sans Mono",monospace}
tbody tr:hover{background:color-mix(in srgb,var(--fg) 5%,transparent)}
.c{display:inline-block;width:34px;height:16px;border-radius:4px}.pass{background:var(--pass)}.fail{background:var(--fail)}
.vac{background:var(--vac)}.uns{background:var(--uns)}.x{background:var(--x)}
.legend span{margin-right:18px;color:var(--soft);font-size:13px}.legend i{margin-right:6px;vertical-align:-3px}
details{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--fail);border-radius:8px;margin:10px 0;
padding:10px 16px}summary{cursor:pointer;font-weight:600}pre{overflow-x:auto;background:var(--bg);border:1px solid var(--line);
border-radius:6px;padding:10px 12px;white-space:pre-wrap;overflow-wrap:anywhere}
.bar{height:8px;border-radius:4px;background:var(--x);min-width:1px}.num{text-align:right;font-variant-numeric:tabular-nums}
)";

uint64_t of(const Counts& counts, Status status) { return counts[static_cast<size_t>(status)]; }

const char* cell_class(const CellRow& row) {
  for (int i = 0; i < kStatusCount; ++i)
    if (is_failure(static_cast<Status>(i)) && row.counts[static_cast<size_t>(i)]) return "fail";
  if (of(row.counts, Status::kXfail)) return "x";
  if (of(row.counts, Status::kPass)) return "pass";
  return of(row.counts, Status::kVacuous) ? "vac" : "uns";
}

std::string tooltip(const CellRow& row) {
  std::string text = row.op + " " + row.dtype + ":";
  for (int i = 0; i < kStatusCount; ++i)
    if (const uint64_t n = row.counts[static_cast<size_t>(i)])
      text += fmt::format(" {} {}", n, status_name(static_cast<Status>(i)));
  return text + fmt::format(", worst {:.3g} ULP", row.worst_ulp);
}

std::string tiles(const Report& r) {
  std::string out = "<div class=tiles>";
  const auto tile = [&](const std::string& value, std::string_view label) {
    out += fmt::format("<div class=tile><b>{}</b><span>{}</span></div>", value, label);
  };
  tile(std::to_string(r.cases()), "CASES");
  for (int i = 0; i < kStatusCount; ++i)
    if (const uint64_t n = r.counts[static_cast<size_t>(i)])
      tile(std::to_string(n), status_name(static_cast<Status>(i)));
  tile(fmt::format("{:.0f}", r.cases_per_second_per_core()), "PER SECOND, CORE");
  tile(fmt::format("{:.1f} s", r.seconds), "TIME");
  return out + "</div>";
}

std::string table(const Report& r) {
  std::vector<std::string> dtypes;
  for (const DType dtype : all_dtypes()) dtypes.emplace_back(dtype_name(dtype));
  std::set<std::string> ops;
  for (const auto& [key, row] : r.cells) ops.insert(row.op);
  std::string out = "<div class=scroll><table><thead><tr><th></th>";
  for (const std::string& dtype : dtypes) out += "<th>" + dtype + "</th>";
  out += "</tr></thead><tbody>";
  for (const std::string& op : ops) {
    out += "<tr><th>" + escape_markup(op) + "</th>";
    for (const std::string& dtype : dtypes) {
      const auto cell = r.cells.find({op, dtype});
      out += cell == r.cells.end()
                 ? "<td></td>"
                 : fmt::format("<td><i class=\"c {}\" title=\"{}\"></i></td>",
                               cell_class(cell->second), escape_markup(tooltip(cell->second)));
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string failures(const Report& r) {
  if (r.failures.empty()) return {};
  std::string out = "<h2>Failures</h2>";
  for (const Failure& f : r.failures) {
    out +=
        fmt::format("<details{}><summary>{} · {} {} {} · case {}</summary><p>{}</p><pre>{}</pre>",
                    r.failures.size() <= 5 ? " open" : "", status_name(f.status),
                    escape_markup(f.op), escape_markup(f.dtype), escape_markup(f.layout),
                    escape_markup(f.name), escape_markup(f.text), escape_markup(f.replay));
    if (!f.reproducer.empty()) out += "<pre>" + escape_markup(f.reproducer) + "</pre>";
    out += "</details>";
  }
  return out;
}

/// The least accurate cells, with a bar on a logarithmic scale.
std::string accuracy(const Report& r) {
  std::vector<const CellRow*> rows;
  for (const auto& [key, row] : r.cells)
    if (row.worst_ulp > 0 && row.op != "graph") rows.push_back(&row);
  if (rows.empty()) return {};
  std::ranges::stable_sort(rows, std::greater{}, &CellRow::worst_ulp);
  rows.resize(std::min<size_t>(rows.size(), 40));
  std::string out =
      "<h2>Accuracy</h2><div class=scroll><table><thead><tr><th>op</th><th>dtype</th><th>worst "
      "ULP</th>"
      "<th></th><th>at</th></tr></thead><tbody>";
  for (const CellRow* row : rows) {
    const double length = std::clamp(std::log2(row->worst_ulp + 1) * 20, 1.0, 260.0);
    out += fmt::format(
        "<tr><th>{}</th><td>{}</td><td class=num>{:.3g}</td><td><div class=bar "
        "style=\"width:{:.0f}px\"></div></td><td class=mono>{}</td></tr>",
        escape_markup(row->op), escape_markup(row->dtype), row->worst_ulp, length,
        escape_markup(row->worst_input));
  }
  return out + "</tbody></table></div>";
}

}  // namespace

std::string to_html(const Report& r) {
  return fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width\"><title>Conformance of {0}</title><style>{1}</style><main>"
      "<h1>Conformance of {0}</h1><p class=sub>{2} · device {3} · seed {4} · declares: {5}</p>{6}"
      "{7}<h2>Ops and dtypes</h2><p class=legend><span><i class=\"c pass\"></i>pass</span><span><i "
      "class=\"c fail\"></i>failure</span><span><i class=\"c vac\"></i>vacuous only</span><span><i "
      "class=\"c uns\"></i>unsupported</span><span><i class=\"c x\"></i>expected "
      "failure</span></p>{8}"
      "{9}</main></html>\n",
      escape_markup(r.backend), kStyle, escape_markup(r.plugin), escape_markup(r.device), r.seed,
      escape_markup(r.declaration), tiles(r), failures(r), table(r), accuracy(r));
}

}  // namespace tenon::conformance
