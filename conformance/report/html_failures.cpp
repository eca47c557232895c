// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The failures, folded.
#include "conformance/report/html.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr size_t kMostOpen = 3, kShortText = 140;

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(mark, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Outcome::diff: four fields a line, apart by tabs. Any other line goes over the whole width.
std::string diff_table(const std::string& diff) {
  if (diff.empty()) return {};
  std::string out = "<h4>Values that differ</h4><div class=scroll><table class=list>" +
                    table_head({"element", "expected", "got", "ULP apart"});
  for (const std::string& line : split(diff, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string> fields = split(line, '\t');
    if (fields.size() < 3) {
      out += fmt::format("<tr><td colspan=4>{}</td></tr>", escape_markup(line));
      continue;
    }
    fields.resize(4);
    for (std::string& field : fields) field = "<code>" + escape_markup(field) + "</code>";
    out += table_row(fields);
  }
  return out + "</tbody></table></div>";
}

std::string facts(const Failure& f) {
  std::string out;
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escape_markup(value));
  };
  fact("Kind", f.kind);
  fact("Case", f.name);
  if (f.nodes > 0)
    fact("Shrunk to",
         fmt::format(
             "{}, {}, in {:.1f} s",
             counted(static_cast<uint64_t>(f.nodes), f.op.starts_with("api.") ? "step" : "node"),
             counted(static_cast<uint64_t>(std::max<int64_t>(f.elements, 0)), "element"),
             f.shrink_seconds));
  fact("First bad step", f.transform);
  fact("Other plugins", f.votes);
  if (f.same) fact("The same again", f.same == 1 ? "1 case more" : grouped(f.same) + " cases more");
  return "<dl class=facts>" + out + "</dl>";
}

std::string_view side(Status status) {
  switch (status) {
    case Status::kCrash:
    case Status::kTimeout:
    case Status::kDeviceLost:
      return " is-crash";
    case Status::kFlaky:
      return " is-flaky";
    case Status::kXpass:
      return " is-xpass";
    case Status::kPass:
    case Status::kFail:
    case Status::kUnsupported:
    case Status::kVacuous:
    case Status::kXfail:
      return "";
  }
  return "";
}

std::string start_of(const std::string& text) {
  std::string line = printable(text.substr(0, text.find('\n')));
  if (line.size() <= kShortText) return line;
  size_t end = kShortText;
  while ((static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "…";
}

std::string block(const Failure& f, bool open) {
  std::string out = fmt::format(
      "<details class=\"failure filtered{}\"{}{}><summary>{}{}<b>{} {}</b>{} <span class=soft>{}"
      "</span></summary><div><p>{}</p>{}",
      side(f.status), open ? " open" : "", filter_data(f.op, f.dtype, f.status), badge(f.status),
      status_name(f.status), escape_markup(f.op), escape_markup(f.dtype), escape_markup(f.layout),
      escape_markup(start_of(f.text)), escape_markup(f.text), facts(f));
  if (!f.replay.empty())
    out += fmt::format(
        "<h4>Replay</h4><div class=copy><pre class=wide><code>{}</code></pre><button type=button "
        "hidden>Copy</button></div>",
        escape_markup(f.replay));
  out += diff_table(f.diff);
  if (!f.reproducer.empty())
    out += fmt::format("<h4>The case</h4><pre class=ir><code>{}</code></pre>",
                       escape_markup(f.reproducer));
  return out + "</div></details>\n";
}

}  // namespace

std::string failures_section(const Report& r) {
  if (r.failures.empty()) return {};
  std::string out = fmt::format(
      "<section><h2 id=failures>Failures</h2><p>{}. Alike failures are one. Each was seen again in "
      "fresh processes and made as small as it would go, unless its text says otherwise.</p>",
      counted(r.failures.size(), "failure"));
  for (const Failure& f : r.failures) out += block(f, r.failures.size() <= kMostOpen);
  return out + "</section>";
}

}  // namespace tenon::conformance
