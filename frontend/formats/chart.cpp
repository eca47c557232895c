// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/support/error.hpp"

namespace tenon::formats {
namespace {

constexpr int kMostChartPixels = 16384;

// Okabe and Ito, 2008: told apart by the colour-blind too.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#000000"};
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 48;

/// Text that is safe between tags: no markup, and no characters that XML has not.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

/// From data to pixels along one axis.
struct Axis {
  double low = 0, high = 1, begin, end;  ///< values, and their pixels
  std::vector<double> ticks;

  double pixel(double value) const { return begin + (value - low) / (high - low) * (end - begin); }
};

void grow(double value, double& low, double& high) {
  low = std::min(low, value);
  high = std::max(high, value);
}

/// About `count` round numbers, 1, 2 or 5 times a power of ten apart; `margin` widens the axis to
/// them.
void choose_ticks(Axis& axis, int count, bool widen) {
  const double raw = (axis.high - axis.low) / count,
               power = std::pow(10, std::floor(std::log10(raw)));
  const double step = raw <= power       ? power
                      : raw <= 2 * power ? 2 * power
                      : raw <= 5 * power ? 5 * power
                                         : 10 * power;
  if (widen) {
    axis.low = std::floor(axis.low / step) * step;
    axis.high = std::ceil(axis.high / step) * step;
  }
  const auto first = std::ceil(axis.low / step - 1e-9), last = std::floor(axis.high / step + 1e-9);
  for (double i = first; i <= last; ++i) axis.ticks.push_back(i * step + 0.0);  // never -0
}

Axis axis_of(const std::vector<Series>& series, std::vector<double> Series::*values, double begin,
             double end, int count, bool widen) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& one : series)
    for (size_t i = 0; i < one.x.size(); ++i)
      if (std::isfinite(one.x[i]) && std::isfinite(one.y[i])) grow((one.*values)[i], low, high);
  if (low > high) low = 0, high = 1;  // no points
  // A range that doubles can divide by and cannot overflow.
  low = std::max(low, -1e300);
  high = std::min(high, 1e300);
  const double least = std::max(std::abs(low), std::abs(high)) * 1e-9 + 1e-300;
  if (high - low < least)
    low -= std::max(least, 0.5 * std::abs(low)), high += std::max(least, 0.5 * std::abs(high));
  Axis axis{.low = low, .high = high, .begin = begin, .end = end, .ticks = {}};
  choose_ticks(axis, count, widen);
  return axis;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view colour) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
      y2, colour);
}

std::string path_of(const Series& series, const Axis& x, const Axis& y) {
  std::string path;
  bool is_down = false;
  for (size_t i = 0; i < series.x.size(); ++i) {
    const bool is_finite = std::isfinite(series.x[i]) && std::isfinite(series.y[i]);
    if (is_finite)
      path += fmt::format("{}{:.1f} {:.1f}", is_down ? "L" : "M", x.pixel(series.x[i]),
                          y.pixel(series.y[i]));
    is_down = is_finite;
  }
  return path;
}

std::string grid(const Axis& x, const Axis& y) {
  std::string out;
  for (const double tick : y.ticks) {
    out += line(x.begin, y.pixel(tick), x.end, y.pixel(tick), "#dddddd");
    out += text_at(x.begin - 6, y.pixel(tick) + 4, "end", fmt::format("{:.6g}", tick));
  }
  for (const double tick : x.ticks) {
    out += line(x.pixel(tick), y.begin, x.pixel(tick), y.begin + 5, "#444444");
    out += text_at(x.pixel(tick), y.begin + 18, "middle", fmt::format("{:.6g}", tick));
  }
  return out + line(x.begin, y.begin, x.end, y.begin, "#444444") +
         line(x.begin, y.begin, x.begin, y.end, "#444444");
}

}  // namespace

std::string line_chart(const std::vector<Series>& series, const ChartOptions& options) {
  TN_REQUIRE(options.width >= 200 && options.height >= 120,
             "[line_chart] expected at least 200 x 120 pixels, got {} x {}", options.width,
             options.height);
  // Ticks are a number of pixels apart, so their count grows with the size.
  TN_REQUIRE(options.width <= kMostChartPixels && options.height <= kMostChartPixels,
             "[line_chart] expected at most {0} x {0} pixels, got {1} x {2}", kMostChartPixels,
             options.width, options.height);
  for (const Series& one : series)
    TN_REQUIRE(one.x.size() == one.y.size(),
               "[line_chart] expected as many x as y of '{}', got {} and {}", one.name,
               one.x.size(), one.y.size());
  const double width = options.width, height = options.height;
  const Axis x = axis_of(series, &Series::x, kLeft, width - kRight, options.width / 90, false);
  const Axis y = axis_of(series, &Series::y, height - kBottom, kTop, options.height / 60, true);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#ffffff\"/>\n",
      options.width, options.height);
  out += grid(x, y);
  out += text_at(width / 2, 20, "middle", options.title, " font-size=\"15\"");
  out += text_at((x.begin + x.end) / 2, height - 10, "middle", options.x_label);
  out += text_at(
      0, 0, "middle", options.y_label,
      fmt::format(" transform=\"translate(14 {:.1f}) rotate(-90)\"", (y.begin + y.end) / 2));
  for (size_t i = 0; i < series.size(); ++i) {
    const std::string_view colour = kColours[i % kColours.size()];
    out += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" "
        "stroke-linejoin=\"round\"/>\n",
        path_of(series[i], x, y), colour);
    const double at = kTop + 14 + 16 * static_cast<double>(i);
    out += line(x.end - 24, at - 4, x.end - 6, at - 4, colour);
    out += text_at(x.end - 30, at, "end", series[i].name);
  }
  return out + "</svg>\n";
}

}  // namespace tenon::formats
