// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes within an element budget.
#include "conformance/cases/shapes.hpp"

#include <algorithm>

namespace tenon::conformance {
namespace {

constexpr int64_t kSizes[] = {1,  2,  3,  5,  7,  13, 16,  17,  31,  32,
                              33, 61, 63, 64, 65, 97, 127, 129, 257, 1025};

template <class Source>
int64_t draw_size(Source& choices, int64_t minimum, int64_t maximum) {
  std::vector<int64_t> fit;
  for (const int64_t size : kSizes)
    if (size >= minimum && size <= maximum) fit.push_back(size);
  return fit.empty() ? minimum : choices.pick(fit);
}

}  // namespace

std::vector<int64_t> draw_sizes(Choices& choices, int rank, int64_t budget) {
  std::vector<int64_t> sizes(static_cast<size_t>(rank));
  for (auto& size : sizes) {
    size = draw_size(choices, 1, std::max<int64_t>(budget, 1));
    budget /= size;
  }
  // Otherwise the large size would always lead.
  for (size_t i = sizes.size(); i > 1; --i) std::swap(sizes[i - 1], sizes[choices.below(i)]);
  if (!sizes.empty() && choices.chance(2)) sizes[choices.below(sizes.size())] = 0;
  return sizes;
}

Shape to_shape(const std::vector<int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

Expr draw_symbol(Choices& choices, const std::string& name, int64_t budget) {
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

}  // namespace tenon::conformance
