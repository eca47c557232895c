// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws, kept in order.
#include "conformance/cases/choices.hpp"

#include <algorithm>

namespace tenon::conformance {

uint64_t Choices::below(uint64_t n) {
  if (n <= 1) return 0;  // nothing to decide
  uint64_t draw = 0;
  if (!replays_)
    draw = random_.below(n);
  else if (draws_.size() < replayed_.size())
    draw = std::min(replayed_[draws_.size()], n - 1);
  draws_.push_back(draw);
  return draw;
}

uint64_t Choices::bits() {
  uint64_t draw = 0;
  if (!replays_)
    draw = random_.bits();
  else if (draws_.size() < replayed_.size())
    draw = replayed_[draws_.size()];
  draws_.push_back(draw);
  return draw;
}

int64_t Choices::between(int64_t minimum, int64_t maximum) {
  const uint64_t width = static_cast<uint64_t>(maximum) - static_cast<uint64_t>(minimum) + 1;
  const uint64_t offset = width == 0 ? bits() : below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(minimum) + offset);
}

double Choices::unit() { return static_cast<double>(below(uint64_t{1} << 53)) * 0x1p-53; }

Choices::Scope::Scope(Choices& choices, Part part)
    : choices_(choices), stretch_(choices.stretches_.size()) {
  const auto begin = static_cast<uint32_t>(choices.draws_.size());
  choices.stretches_.push_back({part, begin, begin});
}

Choices::Scope::~Scope() {
  choices_.stretches_[stretch_].end = static_cast<uint32_t>(choices_.draws_.size());
}

}  // namespace tenon::conformance
