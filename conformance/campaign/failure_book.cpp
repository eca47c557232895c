// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/failure_book.hpp"

#include <algorithm>

namespace tenon::conformance {
namespace {

constexpr size_t kMostAlike = 20;
constexpr size_t kMostGraphs = 200;  ///< graphs that fail alike are less alike than cells

}  // namespace

void FailureBook::add(Finished finished) {
  ++seen_;
  auto& alike = alike_[finished.cell.op + ' ' + finished.cell.dtype + ' ' + finished.outcome.kind];
  const bool is_graph = finished.cell.op == "graph";
  alike.emplace(finished.index, std::move(finished));
  if (alike.size() > (is_graph ? kMostGraphs : kMostAlike)) alike.erase(std::prev(alike.end()));
}

std::vector<Finished> FailureBook::listed() const {
  std::vector<Finished> out;
  for (const auto& [key, alike] : alike_)
    for (const auto& [index, finished] : alike) out.push_back(finished);
  std::ranges::sort(out, {}, &Finished::index);
  return out;
}

}  // namespace tenon::conformance
