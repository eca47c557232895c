// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes within an element budget.
#include "conformance/cases/graphs/shapes.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::conformance::graphs {
namespace {

constexpr int64_t kSizes[] = {1,  2,  3,  5,   7,   13,  16,  17,  31,   32,   33,   61,   63,
                              64, 65, 97, 127, 129, 256, 257, 511, 1023, 1025, 1500, 2049, 4099};
constexpr int64_t kTails[] = {31, 33, 63, 65, 127, 129, 1025};
constexpr int64_t kBig[] = {4097, 10007, 16385, 32769, 65535, 65536, 65537, 70000};

template <class Source>
int64_t draw_size(Source& choices, int64_t minimum, int64_t maximum) {
  std::vector<int64_t> fit;
  for (const int64_t size : kSizes)
    if (size >= minimum && size <= maximum) fit.push_back(size);
  return fit.empty() ? minimum : choices.pick(fit);
}

/// The order of the draws must not be that of the axes: the large size would always lead.
std::vector<int64_t> shuffled(Choices& choices, std::vector<int64_t> sizes) {
  const Choices::Scope scope(choices, Part::kOther);
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    std::swap(sizes[i], sizes[i + choices.below(sizes.size() - i)]);
  return sizes;
}

}  // namespace

std::vector<int64_t> draw_sizes(Choices& choices, int rank, int64_t budget) {
  std::vector<int64_t> sizes(static_cast<size_t>(rank));
  for (auto& size : sizes) {
    const Choices::Scope scope(choices, Part::kDimension);
    size = draw_size(choices, 1, std::max<int64_t>(budget, 1));
    budget /= size;
    if (choices.chance(1)) size = 0;
  }
  return shuffled(choices, std::move(sizes));
}

std::vector<int64_t> draw_tailed_sizes(Choices& choices, int rank) {
  std::vector<int64_t> sizes(static_cast<size_t>(rank));
  int64_t budget = 1100;  // a list may make a lot of code of it
  for (auto& size : sizes) {
    const Choices::Scope scope(choices, Part::kDimension);
    std::vector<int64_t> fit;
    for (const int64_t tail : kTails)
      if (tail <= budget) fit.push_back(tail);
    size = fit.empty() ? choices.between(1, std::max<int64_t>(budget, 1)) : choices.pick(fit);
    budget /= size;
  }
  return shuffled(choices, std::move(sizes));
}

std::vector<int64_t> draw_big_sizes(Choices& choices, int rank, int place) {
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
  const Choices::Scope scope(choices, Part::kDimension);
  int64_t& big = sizes[static_cast<size_t>(place)];
  big = choices.pick(kBig);
  for (auto& size : sizes)
    if (&size != &big && big < 20000) size = choices.between(1, 3);
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()) > 70000)
    for (auto& size : sizes)
      if (&size != &big) size = 1;
  return sizes;
}

Shape to_shape(const std::vector<int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

Expr draw_symbol(Choices& choices, const std::string& name, int64_t budget) {
  const Choices::Scope scope(choices, Part::kDimension);
  const int64_t maximum = std::max<int64_t>(draw_size(choices, 64, budget), 8);
  return Expr::symbol(name, choices.chance(50) ? 1 : 4, maximum);
}

SymbolValues draw_symbol_values(Random& random, const std::vector<Expr>& symbols) {
  SymbolValues values;
  for (const Expr& symbol : symbols)
    values[symbol.name()] = random.chance(70) ? draw_size(random, symbol.min(), symbol.max())
                                              : random.between(symbol.min(), symbol.max());
  return values;
}

std::vector<int64_t> concrete(const Shape& shape, const SymbolValues& symbols) {
  std::vector<int64_t> sizes;
  sizes.reserve(shape.size());
  for (const Dim& dim : shape) sizes.push_back(dim.evaluate(symbols));
  return sizes;
}

}  // namespace tenon::conformance::graphs
