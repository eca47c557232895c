// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/progress.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace tenon::conformance::campaign {

bool ProgressLine::due() {
  using namespace std::chrono_literals;
  const auto age = std::chrono::steady_clock::now() - last_;
  return form_ != Form::kNone && age > (form_ == Form::kLive ? 200ms : 30s);
}

void ProgressLine::show(const std::string& line) {
  if (form_ == Form::kPlain) return say(line);
  if (form_ == Form::kNone) return;
  last_ = std::chrono::steady_clock::now();
  dirty_ = true;
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

void ProgressLine::say(const std::string& line) {
  if (form_ == Form::kNone) return;
  clear();
  last_ = std::chrono::steady_clock::now();
  fmt::print(stderr, "{}\n", line);
}

void ProgressLine::clear() {
  if (dirty_) fmt::print(stderr, "\r\033[K");
  dirty_ = false;
}

std::string duration_text(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace tenon::conformance::campaign
