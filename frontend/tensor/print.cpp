// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout and numbers as in numpy/_core/arrayprint.py (array2string, FloatingFormat), version 2.
#include "tenon/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {
namespace {

/// The fewest digits that stand for a float in its dtype: d.ddd times 10^exponent.
struct Digits {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Digits shortest(const Scalar& value) {
  Digits out;
  std::string text = to_string(value);
  if (text.starts_with("-")) {
    out.negative = true;
    text.erase(0, 1);
  }
  if (const size_t e = text.find('e'); e != std::string::npos) {
    out.exponent = std::stoi(text.substr(e + 1));
    text.resize(e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  out.exponent += static_cast<int>(point) - 1;
  if (point < text.size()) text.erase(point, 1);
  const size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
  text.erase(0, first);
  out.exponent -= static_cast<int>(first);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.empty()) {
    text = "0";
    out.exponent = 0;
  }
  out.digits = std::move(text);
  return out;
}

/// "12.5", "1." with at most `precision` digits after the point.
std::string positional(const Scalar& value, int precision) {
  const Digits d = shortest(value);
  const int after = static_cast<int>(d.digits.size()) - 1 - d.exponent;
  std::string text;
  if (after > precision) {
    text = fmt::format("{:.{}f}", value.as_double(), precision);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
  }
  if (d.negative) text = "-";
  if (d.exponent < 0) {
    text += "0." + std::string(static_cast<size_t>(-d.exponent - 1), '0') +
            (d.digits == "0" ? "" : d.digits);
    return text;
  }
  const auto whole = static_cast<size_t>(d.exponent) + 1;
  std::string digits = d.digits;
  if (digits.size() < whole) digits.resize(whole, '0');
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

struct Scientific {
  std::string mantissa, exponent;  ///< "-1.5", "+08"
};

/// At most, and at least, so many digits after the point: those beyond the shortest are the value's
/// own. The exponent has as many digits as are asked for.
Scientific scientific(const Scalar& value, int precision, int least, int exponent_digits = 2) {
  const Digits d = shortest(value);
  const int after = static_cast<int>(d.digits.size()) - 1;
  Scientific out;
  int exponent = d.exponent;
  if (after > precision || after < least) {
    std::string text =
        fmt::format("{:.{}e}", value.as_double(), after > precision ? precision : least);
    const size_t e = text.find('e');
    exponent = std::stoi(text.substr(e + 1));
    text.resize(e);
    while (text.ends_with('0') && static_cast<int>(text.size() - 1 - text.find('.')) > least)
      text.pop_back();
    out.mantissa = text.find('.') == std::string::npos ? text + "." : text;
  } else {
    out.mantissa = (d.negative ? "-" : "") + d.digits.substr(0, 1) + "." + d.digits.substr(1);
  }
  out.exponent =
      fmt::format("{}{:0{}}", exponent < 0 ? '-' : '+', std::abs(exponent), exponent_digits);
  return out;
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// Which elements are shown, and how each is written.
class Printer {
 public:
  Printer(const Array& array, const PrintOptions& options) : array_(array), options_(options) {
    summarised_ = array.count() > options.threshold;
    collect(0, 0);
    if (is_float(array.dtype)) {
      measure_floats();
    } else {
      for (const int64_t i : shown_) width_ = std::max(width_, whole(i).size());
      if (array.dtype == DType::kBool) width_ = 5;  // room for either
    }
  }

  std::string text() const {
    if (array_.shape.empty()) return alone();
    if (array_.count() == 0) return "[]";
    return nested(0, 0, " ", options_.line_width);
  }

 private:
  /// Of an axis: how many elements at its begin and end are shown; all are "at the end" if none is
  /// left out.
  std::pair<int64_t, int64_t> shown_of(size_t axis) const {
    const int64_t size = array_.shape[axis];
    if (summarised_ && options_.edge_items < size - options_.edge_items)
      return {options_.edge_items, options_.edge_items};
    return {0, size};
  }

  void collect(size_t axis, int64_t at) {
    if (array_.count() == 0) return;
    if (axis == array_.shape.size()) {
      shown_.push_back(at);
      return;
    }
    const auto [leading, trailing] = shown_of(axis);
    const int64_t size = array_.shape[axis];
    for (int64_t i = 0; i < leading; ++i) collect(axis + 1, at * size + i);
    for (int64_t i = size - trailing; i < size; ++i) collect(axis + 1, at * size + i);
  }

  std::string whole(int64_t i) const {
    const Scalar value = array_.at(i);
    if (value.dtype == DType::kBool) return value.bits ? "True" : "False";
    return to_string(value);
  }

  void measure_floats() {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    bool has_finite = false;
    for (const int64_t i : shown_) {
      const double x = std::abs(array_.at(i).as_double());
      if (!std::isfinite(x)) continue;
      has_finite = true;
      if (x == 0) continue;
      least = std::min(least, x);
      most = std::max(most, x);
    }
    exponent_ = most > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
    size_t left = 0, right = 0;
    for (const int64_t i : shown_) {
      const Scalar value = array_.at(i);
      if (!std::isfinite(value.as_double())) continue;
      if (exponent_) {
        const Scientific s = scientific(value, options_.precision, 0);
        const size_t point = s.mantissa.find('.');
        left = std::max(left, point);
        right = std::max(right, s.mantissa.size() - point - 1);
      } else {
        const std::string s = positional(value, options_.precision);
        const size_t point = s.find('.');
        left = std::max(left, point);
        right = std::max(right, s.size() - point - 1);
      }
    }
    after_ = right;
    if (exponent_)
      for (const int64_t i : shown_)
        if (std::isfinite(array_.at(i).as_double()))
          exponent_digits_ =
              std::max(exponent_digits_,
                       scientific(array_.at(i), options_.precision, 0).exponent.size() - 1);
    width_ = has_finite ? left + 1 + right + (exponent_ ? exponent_digits_ + 2 : 0) : 0;
    for (const int64_t i : shown_) {
      const double x = array_.at(i).as_double();
      if (!std::isfinite(x)) width_ = std::max<size_t>(width_, x < 0 ? 4 : 3);
    }
  }

  std::string element(int64_t i) const {
    if (!is_float(array_.dtype)) return padded(whole(i), width_);
    const Scalar value = array_.at(i);
    const double x = value.as_double();
    if (std::isnan(x)) return padded("nan", width_);
    if (std::isinf(x)) return padded(x < 0 ? "-inf" : "inf", width_);
    if (exponent_) {
      const Scientific s = scientific(value, options_.precision, static_cast<int>(after_),
                                      static_cast<int>(exponent_digits_));
      return padded(s.mantissa + "e" + s.exponent, width_);
    }
    std::string text = positional(value, options_.precision);
    text.append(after_ - (text.size() - text.find('.') - 1), ' ');
    return padded(text, width_);
  }

  /// A tensor of rank 0, as a number of Python.
  std::string alone() const {
    if (!is_float(array_.dtype)) return whole(0);
    const Scalar value = array_.at(0);
    const double x = value.as_double();
    if (!std::isfinite(x)) return std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    constexpr int kAll = 400;
    if (x == 0 || (std::abs(x) >= 1e-4 && std::abs(x) < 1e16)) {
      const std::string text = positional(value, kAll);
      return text.ends_with(".") ? text + "0" : text;
    }
    Scientific s = scientific(value, kAll, 0);
    if (s.mantissa.ends_with(".")) s.mantissa.pop_back();
    return s.mantissa + "e" + s.exponent;
  }

  static void extend(std::string& text, std::string& line, const std::string& word,
                     int64_t line_width, const std::string& indent) {
    if (static_cast<int64_t>(line.size() + word.size()) > line_width &&
        line.size() > indent.size()) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      line = indent;
    }
    line += word;
  }

  std::string nested(size_t axis, int64_t at, const std::string& indent, int64_t line_width) const {
    const auto [leading, trailing] = shown_of(axis);
    const int64_t size = array_.shape[axis];
    const bool is_last = axis + 1 == array_.shape.size();
    std::vector<std::string> words;
    const auto add = [&](int64_t i) {
      words.push_back(is_last ? element(at * size + i)
                              : nested(axis + 1, at * size + i, indent + " ", line_width - 1));
    };
    for (int64_t i = 0; i < leading; ++i) add(i);
    if (leading > 0) words.emplace_back("...");
    for (int64_t i = size - trailing; i < size; ++i) add(i);
    std::string text, line = indent;
    if (is_last) {
      for (const std::string& word : words) {
        if (&word != &words.front()) line += ' ';
        extend(text, line, word, line_width - 1, indent);
      }
      text += line;
    } else {
      const std::string separator(array_.shape.size() - axis - 1, '\n');
      for (const std::string& word : words) text += (text.empty() ? "" : separator) + indent + word;
    }
    return "[" + text.substr(indent.size()) + "]";
  }

  const Array& array_;
  const PrintOptions& options_;
  bool summarised_ = false, exponent_ = false;
  std::vector<int64_t> shown_;
  size_t width_ = 0, after_ = 0, exponent_digits_ = 2;
};

void check(const PrintOptions& options) {
  TN_REQUIRE(options.precision >= 0 && options.precision <= 100,
             "[print] expected a precision from 0 to 100, got {}", options.precision);
  TN_REQUIRE(options.threshold >= 0 && options.edge_items >= 1 && options.line_width >= 1,
             "[print] expected a threshold of at least 0, edge items and a line width of at least "
             "1, got {}, {} and {}",
             options.threshold, options.edge_items, options.line_width);
}

}  // namespace

std::string to_string(const Array& array, const PrintOptions& options) {
  check(options);
  check_array("print", array);
  return Printer(array, options).text();
}

std::string to_string(const Tensor& x, const PrintOptions& options) {
  check(options);
  return to_string(x.to_array(), options);
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

Description describe(const Tensor& x) {
  const Array array = x.to_array();
  Description out;
  out.dtype = array.dtype;
  out.shape = array.shape;
  out.device = x.device();
  out.count = array.count();
  out.min = out.max = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < out.count; ++i) {
    const double value = array.at(i).as_double();
    out.nan_count += std::isnan(value);
    out.infinite_count += std::isinf(value);
    if (!std::isfinite(value)) continue;
    out.min = std::fmin(out.min, value);
    out.max = std::fmax(out.max, value);
    sum += value;
    ++finite;
  }
  out.mean = finite > 0 ? sum / static_cast<double>(finite) : out.max;
  return out;
}

std::string to_string(const Description& d) {
  return fmt::format("{}[{}] on {}: min {}, mean {}, max {}, {} NaN, {} infinite",
                     dtype_name(d.dtype), fmt::join(d.shape, ", "), d.device, d.min, d.mean, d.max,
                     d.nan_count, d.infinite_count);
}

}  // namespace tenon
