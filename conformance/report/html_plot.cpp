// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error over the operand, both on logarithmic axes, and what the profile allows.
#include <algorithm>
#include <cmath>

#include "conformance/report/html.hpp"
#include "conformance/report/markup.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr double kWidth = 320, kHeight = 170, kLeft = 34, kRight = 314, kTop = 10, kBottom = 146;
constexpr int kColumns = 140;  ///< of pixels that share a stroke
constexpr double kLeastUlp = 0.25;
constexpr double kGap = 0.03, kCharacter = 0.02;  ///< of labels, in widths of the axis

/// Operands on [0, 1]: zero in the middle, or at the left if none is negative.
class Across {
 public:
  explicit Across(const CellRow& row) {
    for (const auto& [bucket, sample] : row.ulps) {
      if (!std::isfinite(sample.at)) continue;
      negative_ = negative_ || sample.at < 0;
      if (sample.at == 0) continue;
      const double power = std::log10(std::fabs(sample.at));
      low_ = std::min(low_, power);
      high_ = std::max(high_, power);
    }
    if (low_ > high_) low_ = -1, high_ = 1;
    low_ = std::floor(low_) - 1;
    high_ = std::ceil(high_ + 1e-9);
  }

  double operator()(double at) const {
    const double power = at == 0 ? low_ : std::log10(std::fabs(at));
    const double share = std::clamp((power - low_) / (high_ - low_), 0.0, 1.0);
    return negative_ ? 0.5 + std::copysign(share / 2, at) : share;
  }

  /// Positions and labels of a few powers of ten, and of zero.
  std::vector<std::pair<double, std::string>> ticks() const {
    double step = 1;
    for (const double wider : {2, 5, 10, 20, 50, 100, 200})
      if ((high_ - low_) / step > (negative_ ? 4 : 6)) step = wider;
    std::vector<std::pair<double, std::string>> out;
    const auto add = [&](double at, const std::string& text) {
      const double share = (*this)(at);
      if (std::ranges::none_of(out, [&](const auto& tick) {
            return std::fabs(tick.first - share) <
                   kGap + kCharacter * static_cast<double>(text.size());
          }))
        out.emplace_back(share, text);
    };
    if (negative_) add(0, "0");
    for (double power = std::floor(high_ / step) * step; power > low_; power -= step) {
      const std::string text = power == 0 ? "1" : fmt::format("1e{:.0f}", power);
      add(std::pow(10, power), text);
      if (negative_) add(-std::pow(10, power), "-" + text);
    }
    return out;
  }

 private:
  bool negative_ = false;
  double low_ = 400, high_ = -400;  ///< powers of ten
};

/// Errors on [0, 1]: 0 and what is under a quarter at the bottom, infinity at the top.
class Up {
 public:
  explicit Up(const CellRow& row) {
    double most = 4;
    for (const auto& [bucket, sample] : row.ulps)
      for (const double value : {sample.ulp, sample.bound})
        if (std::isfinite(value) && value < 1e12) most = std::max(most, value);
    high_ = std::log10(most) + 0.15;
  }
  double operator()(double ulp) const {
    if (!(ulp > kLeastUlp)) return 0;
    return std::clamp((std::log10(ulp) - low_) / (high_ - low_), 0.0, 1.0);
  }
  std::vector<std::pair<double, std::string>> ticks() const {
    std::vector<std::pair<double, std::string>> out = {{0, "0"}};
    const double step = high_ > 4 ? std::ceil(high_ / 4) : 1;
    for (double power = 0; power < high_; power += step)
      out.emplace_back(
          (*this)(std::pow(10, power)),
          power < 4 ? fmt::format("{:.0f}", std::pow(10, power)) : fmt::format("1e{:.0f}", power));
    return out;
  }

 private:
  double low_ = std::log10(kLeastUlp), high_ = 1;
};

double x_of(double share) { return kLeft + share * (kRight - kLeft); }
double y_of(double share) { return kBottom - share * (kBottom - kTop); }

std::string axes(const Across& across, const Up& up) {
  std::string out;
  for (const auto& [share, text] : up.ticks())
    out += fmt::format(
        "<path class=grid d=\"M{:.0f} {:.1f}H{:.0f}\"/><text x={:.0f} y={:.1f} text-anchor=end>{}"
        "</text>",
        kLeft, y_of(share), kRight, kLeft - 5, y_of(share) + 3.5, text);
  for (const auto& [share, text] : across.ticks())
    out += fmt::format("<text x={:.1f} y={:.0f} text-anchor={}>{}</text>", x_of(share),
                       kBottom + 15, share > 0.94 ? "end" : "middle", text);
  return out;
}

struct Column {
  double ulp = -1, bound = -1;
};

bool is_over(const UlpSample& sample) { return sample.bound >= 0 && sample.ulp > sample.bound; }

std::string curves(const CellRow& row, const Across& across, const Up& up) {
  std::vector<Column> columns(kColumns);
  std::string over;
  for (const auto& [bucket, sample] : row.ulps) {
    const double share = across(sample.at);
    Column& column = columns[static_cast<size_t>(std::lround(share * (kColumns - 1)))];
    column.ulp = std::max(column.ulp, sample.ulp);
    column.bound = std::max(column.bound, sample.bound);
    if (is_over(sample))
      over += fmt::format(
          "<path class=over d=\"M{:.1f} {:.1f}l4 7h-8z\"><title>{} ULP at {}, "
          "allowed {}</title></path>",
          x_of(share), y_of(up(sample.ulp)) - 3, ulp_text(sample.ulp), sample.at,
          ulp_text(sample.bound));
  }
  std::string error, bound;
  bool drawing = false;
  for (int i = 0; i < kColumns; ++i) {
    const Column& column = columns[static_cast<size_t>(i)];
    const double x = x_of(static_cast<double>(i) / (kColumns - 1));
    if (column.ulp >= 0)
      error += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, kBottom + 1, y_of(up(column.ulp)) - 1);
    if (column.bound < 0) continue;
    const double y = y_of(std::isfinite(column.bound) ? up(column.bound) : 1);
    bound += drawing ? fmt::format("H{:.1f}V{:.1f}", x, y) : fmt::format("M{:.1f} {:.1f}", x, y);
    drawing = true;
  }
  return fmt::format("<path class=error d=\"{}\"/><path class=bound d=\"{}\"/>{}", error, bound,
                     over);
}

}  // namespace

std::string plot(const CellRow& row) {
  const Across across(row);
  const Up up(row);
  const UlpSample* worst = nullptr;
  for (const auto& [bucket, sample] : row.ulps)
    if (!worst || sample.ulp > worst->ulp) worst = &sample;
  const std::string said =
      worst ? fmt::format("worst {} ULP at {:.6g}{}", ulp_text(worst->ulp), worst->at,
                          worst->bound >= 0 ? ", allowed " + ulp_text(worst->bound) : "")
            : "";
  return fmt::format(
      "<figure class=filtered{}><figcaption><b>{} {}</b> <span class=soft>{}</span></figcaption>"
      "<svg viewBox=\"0 0 {} {}\" role=img aria-label=\"Error of {} {} in ULP over its operand: "
      "{}\">{}{}</svg></figure>\n",
      filter_data(row.op, row.dtype, headline(row.counts)), escape_markup(row.op),
      escape_markup(row.dtype), said, kWidth, kHeight, escape_markup(row.op),
      escape_markup(row.dtype), said, axes(across, up), curves(row, across, up));
}

}  // namespace tenon::conformance
