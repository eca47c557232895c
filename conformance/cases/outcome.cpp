// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of statuses.
#include "conformance/cases/outcome.hpp"

#include <cmath>

#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr std::string_view kStatuses[kStatusCount] = {
    "PASS",  "FAIL",    "UNSUPPORTED", "CRASH", "TIMEOUT",   "DEVICE_LOST",
    "FLAKY", "VACUOUS", "XFAIL",       "XPASS", "TOOL_ERROR"};

}  // namespace

std::string_view status_name(Status status) { return kStatuses[static_cast<size_t>(status)]; }

Status status_from_name(std::string_view name) {
  for (int i = 0; i < kStatusCount; ++i)
    if (kStatuses[i] == name) return static_cast<Status>(i);
  fail(ErrorKind::kInvalid, "[status] expected one of PASS to TOOL_ERROR, got \"{}\"", name);
}

bool is_failure(Status status) {
  switch (status) {
    case Status::kPass:
    case Status::kUnsupported:
    case Status::kVacuous:
    case Status::kXfail:
    case Status::kToolError:
      return false;
    case Status::kFail:
    case Status::kCrash:
    case Status::kTimeout:
    case Status::kDeviceLost:
    case Status::kFlaky:
    case Status::kXpass:
      return true;
  }
  return true;
}

int ulp_bucket(double x) {
  if (x == 0) return 0;
  constexpr int kLowestExponent = -1074;  // of a subnormal f64
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(x), &exponent);  // in [0.5, 1)
  const int bucket = (exponent - kLowestExponent) * 8 + static_cast<int>((mantissa - 0.5) * 16) + 1;
  return x < 0 ? -bucket : bucket;
}

Outcome failed(std::string kind, std::string text) {
  return {.status = Status::kFail, .kind = std::move(kind), .text = std::move(text)};
}

Outcome tool_error(std::string kind, std::string text) {
  return {.status = Status::kToolError, .kind = std::move(kind), .text = std::move(text)};
}

}  // namespace tenon::conformance
