// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.html: a verdict, report.json as data, and the script that draws it. It needs no network.
#include <nlohmann/json.hpp>

#include "conformance/report/markup.hpp"
#include "conformance/report/page_text.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/verdict.hpp"
#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

using Json = nlohmann::ordered_json;

/// A script element that is data. JSON may write any character by its code, and "<" is what begins
/// an end tag or a comment.
std::string data(std::string_view id, const Json& json) {
  std::string text;
  for (const char c : json_text(json, -1)) c == '<' ? text += "\\u003c" : text += c;
  return fmt::format("<script type=\"application/json\" id={}>{}</script>\n", id, text);
}

/// What the program's tables say beside the report.
Json tables() {
  Json out = {{"dtypes", Json::array()}, {"failing", Json::array()}, {"freedoms", Json::array()}};
  for (const DType dtype : all_dtypes()) out["dtypes"].push_back(dtype_name(dtype));
  for (int i = 0; i < kStatusCount; ++i)
    if (const auto status = static_cast<Status>(i); is_failure(status))
      out["failing"].push_back(status_name(status));
  for (const Freedom& freedom : freedoms())
    out["freedoms"].push_back(
        {{"name", freedom.name}, {"declared", freedom.declared}, {"kept", freedom.kept}});
  return out;
}

/// What can be read without the script.
std::string header(const Report& r) {
  std::string remarks_list;
  for (const std::string& remark : remarks(r)) remarks_list += "<li>" + escape_markup(remark);
  return fmt::format(
      "<header><p class=over>Tenon conformance</p><h1>{}</h1><p class=sub>{} · {}{} · seed {} · {} "
      "in {:.1f} s</p><ul class=remarks>{}</ul><noscript><p>{}. The tables of this page are drawn "
      "by its script, from the report.json inside it.</p></noscript></header>",
      escape_markup(verdict(r)), escape_markup(r.device), escape_markup(r.plugin),
      r.environment.date.empty() ? "" : " · " + escape_markup(r.environment.date), r.seed,
      counted(r.cases(), "case"), r.seconds, remarks_list, counts_text(r.counts));
}

}  // namespace

std::string to_html(const Report& r) {
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{}: Tenon conformance"
      "</title>\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<meta "
      "http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<link rel=icon href=\"data:,\">\n<style>{}"
      "</style></head>\n<body><a class=skip href=\"#matrix\">To the table</a>\n{}<main></main>\n"
      "<footer>Made by {} from report.json, which holds all of this. How to read a failure: "
      "docs/conformance.md.</footer>\n<div id=card role=status hidden></div>\n{}{}<script>{}"
      "</script></body></html>\n",
      escape_markup(r.backend), kPageStyle, header(r),
      r.environment.tool.empty() ? "tenon-conformance" : escape_markup(r.environment.tool),
      data("report", Json::parse(to_json(r))), data("tables", tables()), kPageScript);
}

}  // namespace tenon::conformance::report
