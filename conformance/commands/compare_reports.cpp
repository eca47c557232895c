// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare: what changed between two reports.
#include "conformance/commands/commands.hpp"
#include "conformance/report/changes.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance::commands {

int compare_command(const std::string& before_file, const std::string& after_file, double factor,
                    bool json) {
  const report::Report before = report::read_report(before_file),
                       after = report::read_report(after_file);
  const std::vector<report::Change> changes = report::changes_between(before, after, factor);
  write_output(json ? report::changes_json(before, after, changes)
                    : report::changes_text(before, after, changes));
  if (report::got_worse(changes)) return kExitFailures;
  return report::tried(before.counts) && report::tried(after.counts) ? kExitOk : kExitNothing;
}

}  // namespace tenon::conformance::commands
