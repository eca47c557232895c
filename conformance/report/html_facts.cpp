// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profile, checks of calls, coverage, declarations, environment.
#include <nlohmann/json.hpp>

#include "conformance/report/html.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

using Json = nlohmann::ordered_json;

std::string words(std::string name) {
  for (char& c : name)
    if (c == '_') c = ' ';
  return escape_markup(name);
}

/// A value of JSON as a person writes it.
std::string value_text(const Json& value) {
  if (value.is_string()) return escape_markup(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "not known";
  if (value.is_number_unsigned() && value.get<uint64_t>() >= 10000)
    return grouped(value.get<uint64_t>());
  if (!value.is_structured()) return escape_markup(value.dump());
  std::string out;
  for (const auto& [key, item] : value.items())
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", value.is_object() ? words(key) + " " : "",
                       value_text(item));
  return out.empty() ? "none" : out;
}

bool is_table(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_object();
}

/// Objects, and lists of objects, have a heading of their own.
bool has_own_table(const Json& value) { return value.is_object() || is_table(value); }

/// A list of objects: a row each, a column for each key of the first.
std::string json_table(const Json& rows) {
  std::string out = "<div class=scroll><table class=list><thead><tr>";
  for (const auto& [key, value] : rows.front().items())
    out += "<th scope=col>" + words(key) + "</th>";
  out += "</tr></thead><tbody>";
  for (const Json& row : rows) {
    out += "<tr>";
    for (const auto& [key, first] : rows.front().items())
      out += fmt::format("<td>{}</td>",
                         row.is_object() && row.contains(key) ? value_text(row.at(key)) : "");
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string fact_rows(const Json& object) {
  std::string out = "<table class=\"list wrap\"><tbody>";
  for (const auto& [key, value] : object.items())
    if (!has_own_table(value))
      out +=
          fmt::format("<tr><th scope=row>{}</th><td>{}</td></tr>", words(key), value_text(value));
  return out + "</tbody></table>";
}

std::string names_list(const std::vector<Missing>& list) {
  std::string out = "<ul class=names>";
  for (const Missing& missing : list) {
    std::string with;
    for (const std::string& name : missing.with) with += (with.empty() ? "" : ", ") + name;
    out += fmt::format("<li><code>{}</code> <span class=soft>{}</span></li>",
                       escape_markup(missing.op), escape_markup(with));
  }
  return out + "</ul>";
}

uint64_t count(const std::vector<Missing>& list) {
  uint64_t n = 0;
  for (const Missing& missing : list) n += missing.with.size();
  return n;
}

std::string measure(uint64_t reached, uint64_t possible, std::string_view what) {
  return fmt::format(
      "<p><meter value={} max={} aria-hidden=true></meter>{} of {} {} reached "
      "({:.1f}%)</p>",
      reached, possible, grouped(reached), grouped(possible), what,
      100.0 * static_cast<double>(reached) / static_cast<double>(possible));
}

std::string folded(std::string_view title, const std::vector<Missing>& list) {
  if (list.empty()) return {};
  return fmt::format("<details class=group><summary>{}<span>{}</span></summary>{}</details>", title,
                     grouped(count(list)), names_list(list));
}

}  // namespace

std::string profile_section(const Report& r) {
  const ProfileVerdict verdict = judge_profile(r);
  std::string out = fmt::format(
      "<section><h2 id=profile>Numbers: declared and met</h2><p>Declares: "
      "<b>{}</b>.",
      escape_markup(r.declaration));
  for (const std::string& line : verdict.looser) out += fmt::format(" It {}.", escape_markup(line));
  out += "</p>";
  if (!verdict.looser.empty())
    out += fmt::format(
        "<p>The tightest profile that all {} met: <b>{}</b>. Declaring it would let "
        "the core, and this tool, hold the device to more.</p>",
        counted(of(r.counts, Status::kPass), "passing case"), escape_markup(verdict.proposal));
  out += "<div class=\"card scroll\"><table class=\"list prose\">" +
         table_head({"rule", "declared", "in passing cases"});
  for (const Freedom& freedom : freedoms()) {
    const bool declared = verdict.declared & freedom.bit, needed = verdict.needed & freedom.bit;
    out += table_row({std::string(freedom.kept),
                      declared ? fmt::format("no: {}", freedom.declared) : "yes",
                      needed ? "made use of the freedom" : "kept"});
  }
  return out + "</tbody></table></div></section>";
}

std::string calls_section(const Report& r) {
  std::string rows;
  for (const auto& [key, row] : r.cells) {
    if (is_cell(row)) continue;
    const Status status = headline(row.counts);
    rows += fmt::format(
        "<tr class=filtered{}><th scope=row>{}</th><td>{}{}</td><td class=num>{}</td><td>{}</td>"
        "</tr>",
        filter_data(row.op, row.dtype, status), escape_markup(row.op), badge(status),
        look(status).meaning, grouped(row.cases()), counts_text(row.counts));
  }
  if (rows.empty()) return {};
  return "<section><h2 id=calls>Calls of the plugin interface</h2><p>Rules of the ABI one by one, "
         "and random sequences of calls.</p><div class=\"card scroll\"><table class=list>" +
         table_head({"check", "result", "cases", "statuses"}) + rows +
         "</tbody></table></div></section>";
}

std::string coverage_section(const Report& r) {
  std::string out = "<section><h2 id=coverage>Coverage</h2>";
  if (!r.reached.empty())
    out += measure(r.coverage(), r.reached.size(),
                   "combinations of an op feeding another, dtype, layout and transform");
  if (r.gaps.pairs) out += measure(r.gaps.pairs_reached, r.gaps.pairs, "pairs of ops");
  const uint64_t missing = count(r.gaps.dtypes);
  out += missing ? fmt::format("<p>{} of op and dtype never reached.</p>", counted(missing, "cell"))
                 : "<p>Every cell of op and dtype was reached.</p>";
  out += folded("Cells of op and dtype never reached", r.gaps.dtypes);
  out += folded("Pairs of ops never reached: the first never fed", r.gaps.consumers);
  return out + "</section>";
}

std::string declarations_section(const Report& r) {
  const Json properties = Json::parse(r.properties, nullptr, false);
  std::string out = "<section><h2 id=declarations>What the plugin declares</h2>";
  if (!properties.is_object() || properties.empty())
    return out + "<p>Nothing is known but: " + escape_markup(r.declaration) + ".</p></section>";
  out += "<div class=card>" + fact_rows(properties) + "</div><div class=two>";
  for (const auto& [key, value] : properties.items())
    if (has_own_table(value))
      out += fmt::format("<div><h3>{}</h3><div class=card>{}</div></div>", words(key),
                         value.is_object() ? fact_rows(value) : json_table(value));
  return out + "</div></section>";
}

std::string environment_section(const Report& r) {
  const Environment& e = r.environment;
  std::string rows;
  const auto row = [&](std::string_view name, const std::string& value) {
    if (!value.empty())
      rows += fmt::format("<tr><th scope=row>{}</th><td>{}</td></tr>", name, escape_markup(value));
  };
  row("tool", e.tool);
  row("command", e.command);
  row("date", e.date);
  row("processor", e.processor);
  row("system", e.system);
  row("plugin", r.plugin);
  row("device", r.device);
  row("seed", std::to_string(r.seed));
  row("worker processes", std::to_string(r.jobs));
  row("time", fmt::format("{:.1f} s", r.seconds));
  row("rate", fmt::format("{:.0f} cases per second and core", r.cases_per_second_per_core()));
  row("digest of all results", fmt::format("{:016x}", r.digest));
  if (r.first_failure_seconds >= 0)
    row("first failure", fmt::format("after {:.1f} s", r.first_failure_seconds));
  return "<section><h2 id=environment>Environment</h2><div class=card><table class=\"list "
         "wrap\"><tbody>" +
         rows + "</tbody></table></div></section>";
}

}  // namespace tenon::conformance
