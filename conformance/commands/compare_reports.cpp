// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare: what changed between two reports.
#include "conformance/commands/commands.hpp"
#include "conformance/report/changes.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance {

int compare_command(const std::string& before_file, const std::string& after_file, double factor,
                    bool json) {
  const Report before = read_report(before_file), after = read_report(after_file);
  const std::vector<Change> changes = changes_between(before, after, factor);
  write_output(json ? changes_json(before, after, changes) : changes_text(before, after, changes));
  return got_worse(changes) ? kExitFailures : kExitOk;
}

}  // namespace tenon::conformance
