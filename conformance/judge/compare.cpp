// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares outputs element by element with their intervals.
#include "conformance/judge/compare.hpp"

#include <cmath>
#include <cstring>

#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

constexpr double kWide = 0.05;                        ///< of an interval, over its magnitude
constexpr int64_t kMostWide = 4, kLeastTelling = 10;  ///< one in so many elements

std::string interval_text(const IntervalArray& expected, int64_t i) {
  std::string value = to_string(expected.value.at(i));
  const Interval range = expected.at(i);
  if (range.any) return value + " (or anything)";
  if (expected.exact() || range.low == range.high) return value;
  return fmt::format("{} in [{}, {}]{}", value, range.low, range.high, range.nan ? " or nan" : "");
}

struct ArrayComparison {
  int64_t wrong = 0, first_wrong = -1, worst = -1;
  double worst_ulp = 0;
};

ArrayComparison compare_array(const IntervalArray& expected, const Array& got,
                              const Profile& profile) {
  ArrayComparison out;
  const int64_t count = got.count();
  if (got.bytes == expected.value.bytes) return out;
  const size_t size = dtype_size(got.dtype);
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(got.bytes.data() + at, expected.value.bytes.data() + at, size) == 0) continue;
    const Scalar mine = got.at(i), reference = expected.value.at(i);
    // A bool is one byte that holds 0 or 1; a 2 would spread through later arithmetic.
    const bool legal = got.dtype != DType::kBool || mine.bits <= 1;
    const bool right = legal && accepts(expected, i, mine, profile);
    if (!right && out.wrong++ == 0) out.first_wrong = i;
    if (!is_float(got.dtype)) continue;
    const double distance = ulp_distance(mine, reference);
    if (distance > out.worst_ulp) {
      out.worst_ulp = distance;
      out.worst = i;
    }
  }
  return out;
}

}  // namespace

Expectation expect(const Case& test, const Profile& profile) {
  return evaluate_intervals(test.graph, test.inputs, test.symbols, profile);
}

std::string vacuity(const Expectation& expectation) {
  int64_t elements = 0, wide = 0, telling = 0;
  for (const IntervalArray& output : expectation) {
    const int64_t count = output.value.count();
    int64_t nonzero = 0;
    for (int64_t i = 0; i < count; ++i) {
      nonzero += !output.value.at(i).is_zero();
      if (!output.exact()) wide += relative_width(output, i) > kWide;
    }
    elements += count;
    // Of a bool, false says as much as true, if there are both.
    telling += output.value.dtype == DType::kBool && nonzero > 0 ? count : nonzero;
  }
  if (elements == 0) return {};
  if (wide * kMostWide > elements)
    return fmt::format("{} of {} elements have intervals over 5%", wide, elements);
  if (telling * kLeastTelling < elements)
    return fmt::format("{} of {} elements are not zero", telling, elements);
  return {};
}

Comparison compare(const Expectation& expectation, const std::vector<Array>& got,
                   const Profile& profile) {
  Comparison out;
  TN_ASSERT(got.size() == expectation.size());
  for (size_t k = 0; k < got.size(); ++k) {
    const IntervalArray& expected = expectation[k];
    const ArrayComparison result = compare_array(expected, got[k], profile);
    if (result.worst_ulp > out.worst_ulp) {
      out.worst_ulp = result.worst_ulp;
      out.worst_index = k == 0 ? result.worst : -1;
    }
    if (result.wrong == 0 || out.mismatch) continue;
    out.mismatch =
        fmt::format("output {} {}: expected {}, got {} ({} of {} elements wrong)", k,
                    position_text(result.first_wrong, got[k].shape),
                    interval_text(expected, result.first_wrong),
                    to_string(got[k].at(result.first_wrong)), result.wrong, got[k].count());
  }
  return out;
}

std::string first_difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].bytes == b[k].bytes) continue;
    for (int64_t i = 0; i < a[k].count(); ++i)
      if (a[k].at(i).bits != b[k].at(i).bits)
        return fmt::format("output {} {}: {} and then {}", k, position_text(i, a[k].shape),
                           to_string(a[k].at(i)), to_string(b[k].at(i)));
  }
  return {};
}

std::string position_text(int64_t index, const std::vector<int64_t>& shape) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
    index /= shape[axis];
  }
  return "[" + text + "]";
}

}  // namespace tenon::conformance::judge
