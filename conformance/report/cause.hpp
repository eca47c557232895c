// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures that have one cause, as far as their texts tell: a fault of an op shows in each dtype,
// and a compiler's refusal in each program.
#pragma once

#include <string>
#include <vector>

#include "conformance/report/report.hpp"

namespace tenon::conformance::report {

/// Equal for failures of one cause. Of what is wrong by value, the op without its dtypes; of an
/// error, its sentence without numbers and dtypes.
std::string cause_of(const Failure& failure);
/// The same before it is shrunk.
std::string cause_of(const Finished& finished);

/// Failures of one cause, in the order of the report.
struct Cause {
  std::vector<const Failure*> failures;
  uint64_t cases = 0;  ///< of all of them
};
std::vector<Cause> causes_of(const Report& report);

}  // namespace tenon::conformance::report
