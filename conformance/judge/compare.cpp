// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares outputs element by element with their intervals.
#include "conformance/judge/compare.hpp"

#include <algorithm>
#include <cstring>
#include <span>

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

/// A bool is one byte that holds 0 or 1; a 2 would spread through later arithmetic.
bool is_legal(const Scalar& mine) { return mine.dtype != DType::kBool || mine.bits <= 1; }

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
    const bool right = is_right(expected, i, mine, profile);
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

bool is_right(const IntervalArray& expected, int64_t i, const Scalar& mine,
              const Profile& profile) {
  return is_legal(mine) && accepts(expected, i, mine, profile);
}

std::string got_text(const Scalar& mine) {
  return is_legal(mine) ? to_string(mine)
                        : fmt::format("{} (byte {:#04x})", to_string(mine), mine.bits);
}

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
                    got_text(got[k].at(result.first_wrong)), result.wrong, got[k].count());
  }
  return out;
}

int64_t still_poisoned(const Expectation& expectation, const std::vector<Array>& got,
                       const Profile& profile, uint8_t poison) {
  int64_t count = 0;
  for (size_t k = 0; k < got.size(); ++k) {
    const size_t size = dtype_size(got[k].dtype);
    for (int64_t i = 0; i < got[k].count(); ++i) {
      const auto bytes = std::span(got[k].bytes).subspan(static_cast<size_t>(i) * size, size);
      if (std::ranges::all_of(bytes, [&](uint8_t byte) { return byte == poison; }))
        count += !is_right(expectation[k], i, got[k].at(i), profile);
    }
  }
  return count;
}

std::string first_difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].bytes == b[k].bytes) continue;
    for (int64_t i = 0; i < a[k].count(); ++i)
      if (a[k].at(i).bits != b[k].at(i).bits)
        return fmt::format("output {} {}: {} and then {}", k, position_text(i, a[k].shape),
                           got_text(a[k].at(i)), got_text(b[k].at(i)));
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
