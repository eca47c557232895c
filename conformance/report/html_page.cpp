// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One self-contained page. It needs no network and, but for the filter, no script.
#include "conformance/report/html.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/verdict.hpp"
#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {

Look look(Status status) {
  switch (status) {
    case Status::kPass:
      return {"pass", "✓", "passes"};
    case Status::kFail:
      return {"fail", "✗", "wrong"};
    case Status::kUnsupported:
      return {"unsupported", "–", "not supported"};
    case Status::kCrash:
      return {"crash", "!", "crashed"};
    case Status::kTimeout:
      return {"timeout", "T", "timed out"};
    case Status::kDeviceLost:
      return {"device_lost", "L", "device lost"};
    case Status::kFlaky:
      return {"flaky", "≈", "failed once, not again"};
    case Status::kVacuous:
      return {"vacuous", "○", "ran, but says nothing"};
    case Status::kXfail:
      return {"xfail", "x", "fails as expected"};
    case Status::kXpass:
      return {"xpass", "X", "passes against expectation"};
  }
  return {};
}

std::string badge(Status status) {
  return fmt::format("<i class=\"s {}\" aria-hidden=true>{}</i>", look(status).css,
                     look(status).symbol);
}

std::string filter_data(std::string_view op, std::string_view dtype, Status status) {
  return fmt::format(" data-op=\"{}\" data-dtype=\"{}\" data-status={}{}", escape_markup(op),
                     escape_markup(dtype), status_name(status),
                     is_failure(status) ? " data-problem" : "");
}

std::string cell_id(std::string_view op, std::string_view dtype) {
  return fmt::format("c-{}-{}", identifier(op), identifier(dtype));
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string out = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i)
    out +=
        i ? fmt::format("<td>{}</td>", cells[i]) : fmt::format("<th scope=row>{}</th>", cells[i]);
  return out + "</tr>";
}

std::string table_head(const std::vector<std::string_view>& names) {
  std::string out = "<thead><tr>";
  for (const std::string_view name : names) out += fmt::format("<th scope=col>{}</th>", name);
  return out + "</tr></thead><tbody>";
}

namespace {

std::string tallies(const Counts& counts) {
  std::string bar, list;
  for (int i = 0; i < kStatusCount; ++i) {
    const auto status = static_cast<Status>(i);
    const uint64_t n = of(counts, status);
    if (!n) continue;
    bar += fmt::format("<i class={} style=\"flex:{}\"></i>", look(status).css, n);
    list += fmt::format("<li>{}<b>{}</b> {}</li>", badge(status), grouped(n), status_name(status));
  }
  return fmt::format("<div class=bar aria-hidden=true>{}</div><ul class=tallies>{}</ul>", bar,
                     list);
}

std::string header(const Report& r) {
  std::string out = fmt::format(
      "<header><p class=over>Tenon conformance</p><h1>{}</h1><p class=sub>{} · {}{} · seed {} · {} "
      "in {:.1f} s</p>{}",
      escape_markup(verdict(r)), escape_markup(r.device), escape_markup(r.plugin),
      r.environment.date.empty() ? "" : " · " + escape_markup(r.environment.date), r.seed,
      counted(r.cases(), "case"), r.seconds, tallies(r.counts));
  std::string list;
  for (const std::string& remark : remarks(r)) list += "<li>" + escape_markup(remark) + "</li>";
  if (!list.empty()) out += "<ul class=remarks>" + list + "</ul>";
  return out;
}

std::string navigation(const std::string& body) {
  struct Link {
    std::string_view id, text;
  };
  constexpr Link kLinks[] = {{"failures", "Failures"},
                             {"matrix", "Ops and dtypes"},
                             {"accuracy", "Accuracy"},
                             {"profile", "Numbers"},
                             {"calls", "Calls"},
                             {"coverage", "Coverage"},
                             {"declarations", "Declarations"},
                             {"environment", "Environment"},
                             {"table", "All cells"}};
  std::string out;
  for (const Link& link : kLinks)
    if (body.find(fmt::format("<h2 id={}>", link.id)) != body.npos)
      out += fmt::format("<a href=\"#{}\">{}</a>", link.id, link.text);
  return "<nav aria-label=Sections>" + out + "</nav></header>";
}

/// Hidden until the script shows it.
std::string filter(const Report& r) {
  std::string dtypes, statuses;
  for (const DType dtype : all_dtypes())
    dtypes += fmt::format("<option>{}</option>", dtype_name(dtype));
  for (int i = 0; i < kStatusCount; ++i)
    if (r.counts[static_cast<size_t>(i)])
      statuses += fmt::format("<option>{}</option>", status_name(static_cast<Status>(i)));
  return fmt::format(
      "<div class=filter id=filter role=search aria-label=\"Filter cells\" hidden><label>op <input "
      "id=filter-op type=search placeholder=\"add, cast, …\" autocomplete=off></label><label>dtype "
      "<select id=filter-dtype><option value=\"\">all</option>{}</select></label><label>status "
      "<select id=filter-status><option value=\"\">all</option><option value=problem>any failure"
      "</option>{}</select></label><button type=button id=filter-clear>Clear</button><span "
      "class=soft id=filter-count aria-live=polite></span></div>",
      dtypes, statuses);
}

}  // namespace

std::string to_html(const Report& r) {
  const std::string body = failures_section(r) + matrix_section(r) + accuracy_section(r) +
                           profile_section(r) + calls_section(r) + coverage_section(r) +
                           declarations_section(r) + environment_section(r) + table_section(r);
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{}: Tenon conformance"
      "</title>\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<meta "
      "http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<link rel=icon href=\"data:,\">\n<style>{}"
      "</style></head>\n<body><a class=skip href=\"#matrix\">To the table</a>\n{}{}<main>{}{}"
      "</main>\n<footer>Made by {} from report.json, which holds all of this. How to read a "
      "failure: docs/conformance.md.</footer>\n<div id=card role=status hidden></div>\n<script>{}"
      "</script></body></html>\n",
      escape_markup(r.backend), kPageStyle, header(r), navigation(body), filter(r), body,
      r.environment.tool.empty() ? "tenon-conformance" : escape_markup(r.environment.tool),
      kPageScript);
}

}  // namespace tenon::conformance
