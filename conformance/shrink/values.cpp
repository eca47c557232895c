// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are easy to read: zero, one, short numbers. Large arrays go by chunks.
#include <algorithm>
#include <cmath>

#include "conformance/shrink/search.hpp"

namespace tenon::conformance::shrink {
namespace {

constexpr int64_t kChunks = 64;   ///< the finest look at a large array
constexpr int64_t kSingles = 16;  ///< elements that get a number of their own

/// Easier to read than the value, the easiest first.
std::vector<Scalar> simpler_values(const Scalar& value) {
  const DType dtype = value.dtype;
  std::vector<Scalar> all{zero(dtype), one(dtype)};
  const double number = value.as_double();
  if (is_float(dtype) && std::isfinite(number) && number != 0) {
    const double power = std::exp2(std::floor(std::log2(std::abs(number))));
    for (const double other : {2.0, -1.0, std::trunc(number), std::copysign(power, number)})
      all.push_back(Scalar::of(dtype, other));
  } else if (is_int(dtype)) {
    all.push_back(Scalar::of_int(dtype, 2));
    if (is_signed(dtype)) all.push_back(Scalar::of_int(dtype, -1));
    all.push_back(Scalar::of_int(dtype, value.as_int() / 2));
  }
  all.erase(std::ranges::find(all, value), all.end());
  return all;
}

class ValueShrinker {
 public:
  explicit ValueShrinker(Search& search) : search_(search) {}

  bool run() {
    bool any = whole();
    for (size_t input = 0; input < search_.best().inputs.size(); ++input)
      any = chunks(input) || any;
    for (size_t input = 0; input < search_.best().inputs.size(); ++input)
      any = singles(input) || any;
    return any;
  }

 private:
  const Array& array(size_t input) const { return search_.best().inputs[input]; }

  /// Every input at once.
  bool whole() {
    for (const auto& number : {zero, one}) {
      Case candidate = search_.best();
      for (Array& input : candidate.inputs)
        for (int64_t i = 0; i < input.count(); ++i) input.set(i, number(input.dtype));
      if (search_.accept(std::move(candidate))) return true;
    }
    return false;
  }

  /// Ever smaller chunks of one input become zero, or one.
  bool chunks(size_t input) {
    bool any = false;
    const int64_t count = array(input).count();
    for (int64_t chunk = count; chunk >= 1 && count / chunk <= kChunks; chunk /= 2)
      for (int64_t begin = 0; begin < count && !search_.spent(); begin += chunk) {
        const DType dtype = array(input).dtype;
        any = put(input, begin, chunk, zero(dtype)) || put(input, begin, chunk, one(dtype)) || any;
      }
    return any;
  }

  bool singles(size_t input) {
    bool any = false;
    int64_t left = kSingles;
    for (int64_t i = 0; i < array(input).count() && left > 0 && !search_.spent(); ++i) {
      const std::vector<Scalar> others = simpler_values(array(input).at(i));
      left -= !others.empty();
      for (const Scalar& other : others)
        if (put(input, i, 1, other)) {
          any = true;
          break;
        }
    }
    return any;
  }

  /// Zeros stay, so that the two numbers do not take turns.
  bool put(size_t input, int64_t begin, int64_t count, const Scalar& value) {
    Case candidate = search_.best();
    Array& array = candidate.inputs[input];
    bool changes = false;
    for (int64_t i = begin; i < std::min(begin + count, array.count()); ++i) {
      if (array.at(i).bits == 0) continue;
      changes = changes || !(array.at(i) == value);
      array.set(i, value);
    }
    return changes && search_.accept(std::move(candidate));
  }

  Search& search_;
};

}  // namespace

bool shrink_values(Search& search) { return ValueShrinker(search).run(); }

}  // namespace tenon::conformance::shrink
