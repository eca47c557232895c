// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses and applies expectations.
#include "conformance/report/expectations.hpp"

#include <sstream>

#include "conformance/cases/graphs/cell_names.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::conformance::report {
namespace {

/// A word that names nothing would never fit a cell, and the line would be taken for granted.
void check_words(const ExpectationLine& line, std::string_view origin) {
  if (line.op != "*" && !graphs::cell_ops().contains(line.op))
    fail(ErrorKind::kInvalid,
         "[expectations] {}:{}: expected an op as tenon-conformance list names it, graph, api.* or "
         "memory.* of a check, or *, got \"{}\"",
         origin, line.line, line.op);
  if (line.dtype != "*" && !graphs::is_cell_dtype(line.dtype))
    fail(ErrorKind::kInvalid,
         "[expectations] {}:{}: expected a dtype, * or - (of what has none), got \"{}\"", origin,
         line.line, line.dtype);
}

}  // namespace

Expectations::Expectations(std::string_view text, std::string_view origin) : strict_(true) {
  std::istringstream in{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    sdk::Scanner words(line);
    const std::string_view kind = words.word();
    if (kind.empty() || kind.starts_with('#')) continue;
    ExpectationLine out;
    out.line = number;
    out.op = words.word();
    out.dtype = words.word();
    out.reason = words.rest();
    TN_REQUIRE((kind == "unsupported" || kind == "xfail") && !out.reason.empty(),
               "[expectations] {}:{}: expected \"unsupported|xfail OP DTYPE REASON\", got \"{}\"",
               origin, number, line);
    out.kind =
        kind == "xfail" ? ExpectationLine::Kind::kXfail : ExpectationLine::Kind::kUnsupported;
    check_words(out, origin);
    lines_.push_back(std::move(out));
  }
}

const ExpectationLine* Expectations::find(ExpectationLine::Kind kind, const Cell& cell) const {
  for (const ExpectationLine& line : lines_)
    if (line.kind == kind && (line.op == "*" || line.op == cell.op) &&
        (line.dtype == "*" || line.dtype == cell.dtype))
      return &line;
  return nullptr;
}

void Expectations::apply(Finished& finished) {
  if (!strict_) return;
  Outcome& outcome = finished.outcome;
  const auto* unsupported = find(ExpectationLine::Kind::kUnsupported, finished.cell);
  // A graph may hold any dtype, so no line can speak for it.
  if (outcome.status == Status::kUnsupported && !unsupported && finished.cell.op != "graph") {
    outcome.status = Status::kFail;
    outcome.kind = "unlisted";
    outcome.text = "unsupported, and no line of the expectations says so: " + outcome.text;
  } else if (outcome.status == Status::kPass && unsupported) {
    outcome.status = Status::kXpass;
    outcome.kind = "xpass";
    outcome.text = fmt::format("line {} says unsupported, and it works", unsupported->line);
  }
  const auto* xfail = find(ExpectationLine::Kind::kXfail, finished.cell);
  if (!xfail) return;
  if (outcome.status == Status::kPass) seen_.passed.insert(xfail->line);
  if (outcome.status != Status::kFail && outcome.status != Status::kCrash &&
      outcome.status != Status::kTimeout)
    return;
  seen_.failed.insert(xfail->line);
  outcome.status = Status::kXfail;
  outcome.text += " (" + xfail->reason + ")";
}

std::vector<std::string> Expectations::stale() const {
  std::vector<std::string> out;
  for (const ExpectationLine& line : lines_)
    if (seen_.passed.contains(line.line) && !seen_.failed.contains(line.line))
      out.push_back(fmt::format("line {}: xfail {} {} passes; take the line out", line.line,
                                line.op, line.dtype));
  return out;
}

}  // namespace tenon::conformance::report
