// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the rows of functions.def with arguments of every kind, most of which mean nothing.
#pragma once

#include <climits>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/tenon.hpp"

namespace tenon::test {

/// Where a call takes its arguments from: each kind has some values, and a call picks one for each.
class Picks {
 public:
  /// `choose(n)`: one of n values.
  Picks(const Tensor& x, std::function<size_t(size_t)> choose)
      : x_(x), choose_(std::move(choose)) {}

  template <class T>
  std::decay_t<T> next() {
    using Plain = std::decay_t<T>;
    if constexpr (std::is_same_v<Plain, bool>)
      return pick(std::vector<char>{0, 1}) != 0;
    else if constexpr (std::is_same_v<Plain, int>)
      return pick(std::vector<int>{0, 99, -1, 1, INT_MIN, INT_MAX, 2});
    else if constexpr (std::is_same_v<Plain, int64_t>)
      return pick(std::vector<int64_t>{1, -5, INT64_MAX, 3, INT64_MIN, 0, int64_t{1} << 31,
                                       int64_t{1} << 32, int64_t{1} << 62, -1, 2});
    else if constexpr (std::is_same_v<Plain, double>)
      return pick(std::vector<double>{0.5, -2, NAN, 1e308, 0, INFINITY, -INFINITY, 5e-324, 9.3e18});
    else if constexpr (std::is_same_v<Plain, Number>)
      return pick(std::vector<Number>{1, -1, 1e300, 300, NAN, INT64_MIN, 0, 0.5});
    else if constexpr (std::is_same_v<Plain, Axes>)
      return pick(std::vector<Axes>{{0}, {99}, {0, 0}, {}, {-1}, {INT_MIN}, {INT_MAX, 0}, {1, 0}});
    else if constexpr (std::is_same_v<Plain, Tensor>)
      return pick(std::vector<Tensor>{x_, ones({7, 5}, DType::kI32, x_.context()), Tensor(-1),
                                      Tensor(0.5), ones({2}, DType::kBool, x_.context()),
                                      full({3}, -1, DType::kI64, x_.context()),
                                      zeros({0}, DType::kI64, x_.context())});
    else if constexpr (std::is_same_v<Plain, std::string>)
      return pick(std::vector<std::string>{"nosuch", ""});
    else if constexpr (std::is_same_v<Plain, Sizes>)
      return pick(std::vector<Sizes>{{3},
                                     {-7},
                                     Sizes(std::vector<int64_t>(17, 1)),
                                     {INT64_MAX, 9},
                                     {},
                                     {-1},
                                     {0, INT64_MAX},
                                     {INT64_MAX, 0, 3},
                                     {INT64_MIN, -1},
                                     {int64_t{1} << 32, int64_t{1} << 31},
                                     {5, 3, 4}});
    else if constexpr (std::is_same_v<Plain, DType>)
      return pick(std::vector<DType>{DType::kF32, DType::kI8, DType::kVoid, DType::kU64,
                                     DType::kF16, static_cast<DType>(200)});
    else if constexpr (std::is_same_v<Plain, std::vector<Slice>>)
      return pick(std::vector<Plain>{{Slice{9, 12}},
                                     std::vector<Slice>(17),
                                     {Slice{0, 2, -1}},
                                     {Slice{INT64_MIN, INT64_MAX, INT64_MAX}},
                                     {Slice{INT64_MAX, INT64_MIN, INT64_MIN}},
                                     {Slice{{}, {}, 0}},
                                     {Slice{{}, {}, -2}}});
    else if constexpr (std::is_same_v<Plain, PadWidths>)
      return pick(std::vector<Plain>{{{1, 1}},
                                     std::vector<PadWidths::Pair>(17, {0, 0}),
                                     {{-1, 0}},
                                     {{INT64_MAX, 1}},
                                     {{INT64_MAX, INT64_MAX}},
                                     {{0, INT64_MIN}},
                                     {{2, 0}, {0, 1}}});
    else if constexpr (std::is_same_v<Plain, std::vector<int64_t>>)
      return pick(std::vector<Plain>{{2},
                                     {},
                                     {-1},
                                     Plain(17, 1),
                                     {INT64_MAX, INT64_MAX},
                                     {INT64_MIN},
                                     {0},
                                     {INT64_MAX},
                                     {int64_t{1} << 32, int64_t{1} << 31},
                                     {2, 2}});
    else if constexpr (std::is_same_v<Plain, std::vector<double>>)
      return pick(std::vector<Plain>{{0.5}, {}, {-1}, {NAN}, {0, 1, 0.25}});
    else if constexpr (std::is_same_v<Plain, std::initializer_list<double>>)
      return wrong_list();
    else if constexpr (std::is_enum_v<Plain>)
      return pick(std::vector<Plain>{Plain{}, static_cast<Plain>(99), static_cast<Plain>(1)});
    else
      return Plain{};  // none, of what is optional
  }

 private:
  static std::initializer_list<double> wrong_list() {
    static const std::initializer_list<double> list = {0.5, 2};  // which lives as long as this
    return list;
  }
  template <class T>
  T pick(const std::vector<T>& values) {
    return values[choose_(values.size())];
  }

  const Tensor& x_;
  std::function<size_t(size_t)> choose_;
};

template <class F>
struct Arguments;
template <class R, class C, class... A>
struct Arguments<R (C::*)(A...) const> {
  using Values = std::tuple<std::decay_t<A>...>;
  static Values from(Picks& picks) { return Values{picks.next<A>()...}; }
};
template <class F>
auto arguments(const F& /*of*/, Picks& picks) {
  return Arguments<decltype(&F::operator())>::from(picks);
}

}  // namespace tenon::test

#define TENON_THE_REST(first, ...) (__VA_ARGS__)
