// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/shrink/size.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenon::conformance::shrink {
namespace {

int64_t count(const Shape& shape, const SymbolValues& symbols) {
  int64_t n = 1;
  for (const int64_t size : concrete_shape(shape, symbols)) n *= size;
  return n;
}

constexpr int64_t kMost = int64_t{1} << 40;  // so that sums do not overflow

Size size_of(const abi::Sequence& sequence) {
  Size size;  // a named check is one step
  size.nodes = static_cast<int>(sequence.steps.size()) + !sequence.check.empty();
  for (const abi::SequenceStep& step : sequence.steps) {
    for (const int64_t number : step.numbers)
      size.total += number == INT64_MIN ? kMost : std::min(std::abs(number), kMost);
    // A line an op; the first and the last one are the program's.
    const auto lines = std::ranges::count(step.text, '\n');
    size.nodes += static_cast<int>(std::max<int64_t>(lines - 2, 0));
    size.total += static_cast<int64_t>(step.text.size());
  }
  return size;
}

}  // namespace

Size size_of(const Case& test) {
  if (test.sequence) return size_of(*test.sequence);
  Size size;
  for (const NodeRef& node : topological(test.graph.outputs)) {
    ++size.nodes;
    size.total += count(node->shape, test.symbols);
  }
  for (const Array& input : test.inputs) size.elements = std::max(size.elements, input.count());
  for (const NodeRef& output : test.graph.outputs)
    size.elements = std::max(size.elements, count(output->shape, test.symbols));
  return size;
}

}  // namespace tenon::conformance::shrink
