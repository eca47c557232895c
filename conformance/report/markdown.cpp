// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Markdown, short enough for a comment on a pull request.
#include <algorithm>

#include "conformance/report/markup.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

constexpr size_t kMostFailures = 20, kMostReproducers = 5, kMostCells = 20;

/// Plain text: nothing in it is markup, and it stays in its line.
std::string plain(std::string_view text) {
  constexpr std::string_view kMarks = "\\`*_[]<>|~&";
  std::string out;
  for (const char c : printable(text)) {
    if (kMarks.find(c) != kMarks.npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

size_t longest_run(std::string_view text, char mark) {
  size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == mark ? run + 1 : 0);
  return longest;
}

std::string block(std::string_view text) {
  const std::string clean = printable(text);
  const std::string fence(std::max<size_t>(3, longest_run(clean, '`') + 1), '`');
  return fmt::format("{}\n{}{}{}\n", fence, clean, clean.ends_with('\n') ? "" : "\n", fence);
}

std::string failures(const Report& r) {
  if (r.failures.empty()) return {};
  std::string out = "\n| | op | dtype | layout | what | case |\n|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(r.failures.size(), kMostFailures); ++i) {
    const Failure& f = r.failures[i];
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", status_name(f.status), plain(f.op),
                       plain(f.dtype), plain(f.layout), plain(f.text), plain(f.name));
  }
  if (r.failures.size() > kMostFailures)
    out +=
        fmt::format("\nand {} more in the report.\n", grouped(r.failures.size() - kMostFailures));
  size_t shown = 0;
  for (const Failure& f : r.failures) {
    if (f.reproducer.empty()) continue;
    if (shown++ == kMostReproducers) break;
    out += fmt::format("\n<details><summary>{} {} {}, case {}</summary>\n\n{}\n{}\n</details>\n",
                       status_name(f.status), escape_markup(f.op), escape_markup(f.dtype),
                       escape_markup(f.name), block(f.replay), block(f.reproducer));
  }
  return out;
}

/// Cells that no case said anything of.
std::string vacuous(const Report& r) {
  std::vector<std::string> names;
  for (const auto& [key, row] : r.cells)
    if (headline(row.counts) == Status::kVacuous) names.push_back(row.op + " " + row.dtype);
  if (names.empty()) return {};
  std::string out = "\nOnly vacuous: ";
  for (size_t i = 0; i < std::min(names.size(), kMostCells); ++i)
    out += (i ? ", " : "") + plain(names[i]);
  return out + (names.size() > kMostCells ? ", and more" : "") + ".\n";
}

std::string profile(const Report& r) {
  const ProfileVerdict verdict = judge_profile(r);
  std::string out = fmt::format("\nDeclares: {}.", plain(r.declaration));
  for (const std::string& line : verdict.looser) out += fmt::format(" It {}.", plain(line));
  if (!verdict.looser.empty()) out += fmt::format(" Proposed: {}.", plain(verdict.proposal));
  return out + "\n";
}

}  // namespace

std::string to_markdown(const Report& r) {
  std::string out = fmt::format("### Conformance: {}\n\n", plain(verdict(r)));
  for (const std::string& remark : remarks(r)) out += "- " + plain(remark) + "\n";
  if (!out.ends_with("\n\n")) out += "\n";
  out += fmt::format("{}, seed {}, {}: {} in {:.1f} s, {:.0f} cases per second and core.\n",
                     plain(r.device), r.seed, plain(r.environment.date), counts_text(r.counts),
                     r.seconds, r.cases_per_second_per_core());
  return out + profile(r) + vacuous(r) + failures(r);
}

}  // namespace tenon::conformance::report
