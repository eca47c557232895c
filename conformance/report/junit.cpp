// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JUnit XML: one test case for each op and dtype; a failure in it carries the texts of its
// failures.
#include "conformance/report/markup.hpp"
#include "conformance/report/report.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

std::string entry(const Failure& f) {
  return fmt::format("{} {} {}: {}\n  {}\n", status_name(f.status), f.name, f.layout, f.text,
                     f.replay);
}

std::string failure_element(Status status, const std::string& message, const std::string& texts) {
  return fmt::format("\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    ",
                     status_name(status), escape_markup(message), escape_markup(texts));
}

std::string inside(const Report& r, const CellRow& row) {
  const Status status = headline(row.counts);
  if (failing(row.counts)) {
    std::string texts;
    for (const Failure& f : r.failures)
      if (f.op == row.op && f.dtype == row.dtype) texts += entry(f);
    return failure_element(status, counts_text(row.counts), texts);
  }
  if (status == Status::kToolError)
    return fmt::format("<error message=\"{}\"/>", escape_markup(counts_text(row.counts)));
  if (status != Status::kUnsupported && status != Status::kVacuous) return {};
  std::string why = "vacuous: every case says little";
  if (status == Status::kUnsupported) {
    why = "unsupported";
    for (const auto& [reason, count] : row.reasons)
      why += (why == "unsupported" ? ": " : "; ") + reason;
  }
  return fmt::format("<skipped message=\"{}\"/>", escape_markup(why));
}

std::string test_case(const Report& r, const std::string& name, const std::string& content) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\">{}</testcase>\n",
                     escape_markup(r.backend), escape_markup(name), content);
}

}  // namespace

std::string to_junit(const Report& r) {
  uint64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string body;
  const auto add = [&](const std::string& name, const std::string& content) {
    ++tests;
    failures += content.find("<failure") != content.npos;
    errors += content.starts_with("<error");
    skipped += content.starts_with("<skipped");
    body += test_case(r, name, content);
  };
  for (const auto& [key, row] : r.cells) add(row.op + " " + row.dtype, inside(r, row));
  for (const Failure& f : r.failures)  // of no cell: a line of the expectations
    if (!r.cells.contains({f.op, f.dtype}))
      add("expectations: " + f.text, failure_element(f.status, f.text, entry(f)));
  const std::string head = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\"",
      tests, failures, errors, skipped, r.seconds);
  std::string stamp = r.environment.date;
  if (stamp.ends_with('Z')) stamp.pop_back();
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tenon-conformance\" {0}>\n"
      "  <testsuite name=\"tenon-conformance {1}\" {0}{2}>\n    <properties>\n"
      "      <property name=\"device\" value=\"{3}\"/>\n      <property name=\"seed\" "
      "value=\"{4}\"/>\n      <property name=\"declaration\" value=\"{5}\"/>\n    "
      "</properties>\n{6}  </testsuite>\n</testsuites>\n",
      head, escape_markup(r.backend),
      stamp.empty() ? "" : fmt::format(" timestamp=\"{}\"", escape_markup(stamp)),
      escape_markup(r.device), r.seed, escape_markup(r.declaration), body);
}

}  // namespace tenon::conformance::report
