// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/sized_kernel.hpp"

#include <algorithm>
#include <array>

#include "core/runtime/compile_kernel.hpp"

namespace tenon {
namespace {

/// The last value of each range but the largest. The ranges are: one row; few rows, which share one
/// read of a matrix; some rows, which fill a core; many rows.
constexpr std::array<int64_t, 3> kEnds{1, 16, 256};

std::pair<int64_t, int64_t> range_of(const Expr& symbol, int64_t value) {
  int64_t least = symbol.min(), most = symbol.max();
  for (const int64_t end : kEnds) {
    if (least < 1 && end == 1) continue;  // a range of 0 and 1 is not a constant
    if (value > end) least = std::max(least, end + 1);
    if (value <= end) most = std::min(most, end);
  }
  return {least, most};
}

}  // namespace

SizedKernel::SizedKernel(Graph graph, LowerOptions options, std::shared_ptr<Device> device,
                         const Compiler& compiler, std::shared_ptr<TransformChooser> chooser)
    : graph_(std::move(graph)),
      options_(std::move(options)),
      device_(std::move(device)),
      compiler_(compiler),
      chooser_(std::move(chooser)) {}

bool SizedKernel::has_several_ranges(const Graph& graph) {
  return std::ranges::any_of(graph.symbols, [](const Expr& symbol) {
    return range_of(symbol, symbol.min()).second < symbol.max();
  });
}

const CompiledKernel& SizedKernel::get(const SymbolValues& values) {
  SymbolRanges ranges;
  for (const Expr& symbol : graph_.symbols)
    ranges.emplace(symbol.name(), range_of(symbol, values.at(symbol.name())));
  const std::lock_guard lock(mutex_);
  if (const auto at = made_.find(ranges); at != made_.end()) return at->second;
  const Graph graph = canonical_kernel(graph_, compiler_.builder(), ranges).graph;
  const KernelCompilation compilation(graph, options_, nullptr, *device_, compiler_, *chooser_);
  CompiledKernel made = compilation.compile(compilation.lower());
  return made_.emplace(std::move(ranges), std::move(made)).first->second;
}

size_t SizedKernel::count() {
  const std::lock_guard lock(mutex_);
  return made_.size();
}

}  // namespace tenon
