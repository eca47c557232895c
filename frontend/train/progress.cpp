// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/train/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::train {
namespace {

constexpr int kLeastBar = 5, kMostBar = 40;

std::string time_of(double seconds) {
  if (!std::isfinite(seconds) || seconds >= 1e6) return "?";
  const auto all = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  const int64_t hours = all / 3600, minutes = all / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60);
  return fmt::format("{}:{:02}", minutes, all % 60);
}

}  // namespace

std::string progress_line(const Report& report, int width) {
  const double part =
      report.steps > 0
          ? std::clamp(static_cast<double>(report.step) / static_cast<double>(report.steps), 0.0,
                       1.0)
          : 1;
  const double left = static_cast<double>(report.steps - report.step) / report.rate;
  const std::string begin = fmt::format("{:3.0f}% ", std::floor(100 * part));
  const std::string end =
      fmt::format("{}/{}, loss {:.4g}, {:.3g} steps/s, {} left", report.step, report.steps,
                  report.loss, report.rate, report.step == report.steps ? "0:00" : time_of(left));
  const int room = width - static_cast<int>(begin.size() + end.size()) - 3;
  std::string bar;
  if (room >= kLeastBar) {
    const int size = std::min(room, kMostBar);
    const int full = static_cast<int>(part * size);
    bar = fmt::format("|{:#<{}}{:<{}}| ", "", full, "", size - full);
  }
  std::string line = begin + bar + end;
  line.resize(std::min<size_t>(line.size(), static_cast<size_t>(std::max(width, 0))));
  return line;
}

}  // namespace tenon::train
