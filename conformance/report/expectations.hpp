// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expectations/<backend>.txt: what a backend will never do (unsupported) and what it does not do
// yet (xfail). Strict both ways: a line that is not true any more is a failure.
//
//   # comment
//   unsupported  *     f64   the device has no double precision
//   xfail        sin   f32   two ULP too far above 1e5
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/report.hpp"

namespace tenon::conformance::report {

struct ExpectationLine {
  enum class Kind : uint8_t { kUnsupported, kXfail } kind = Kind::kXfail;
  std::string op, dtype;  ///< "*" for all
  std::string reason;
  int line = 0;
};

class Expectations {
 public:
  Expectations() = default;  ///< no file: UNSUPPORTED is taken as it comes
  /// Throws kInvalid with the line.
  Expectations(std::string_view text, std::string_view origin);

  /// Turns an outcome into XFAIL, XPASS or FAIL where a line, or the want of one, says so.
  void apply(Finished& finished);
  /// Lines for which the run had passing cases and not one that failed: each an XPASS.
  std::vector<std::string> stale() const;

  const std::vector<ExpectationLine>& lines() const { return lines_; }
  /// Lines that saw a passing and a failing case: what a run that goes on later must know.
  struct Seen {
    std::set<int> passed, failed;
  };
  const Seen& seen() const { return seen_; }
  void restore(Seen seen) { seen_ = std::move(seen); }

 private:
  const ExpectationLine* find(ExpectationLine::Kind kind, const Cell& cell) const;

  bool strict_ = false;
  std::vector<ExpectationLine> lines_;
  Seen seen_;
};

}  // namespace tenon::conformance::report
