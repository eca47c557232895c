// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/failure_book.hpp"

#include <algorithm>

namespace tenon::conformance::campaign {
namespace {

constexpr size_t kMostAlike = 20;
constexpr size_t kMostGraphs = 200;  ///< graphs that fail alike are less alike than cells

std::string way_of(const std::string& op, const std::string& dtype, const std::string& kind) {
  return op + ' ' + dtype + ' ' + kind;
}

}  // namespace

void FailureBook::add(Finished finished) {
  ++seen_;
  const std::string way = way_of(finished.cell.op, finished.cell.dtype, finished.outcome.kind);
  auto& alike = alike_[way];
  const bool is_graph = finished.cell.op == "graph";
  alike.emplace(finished.index, std::move(finished));
  if (alike.size() <= (is_graph ? kMostGraphs : kMostAlike)) return;
  alike.erase(std::prev(alike.end()));
  ++dropped_[way];
}

uint64_t FailureBook::dropped(const std::string& op, const std::string& dtype,
                              const std::string& kind) const {
  const auto at = dropped_.find(way_of(op, dtype, kind));
  return at == dropped_.end() ? 0 : at->second;
}

void FailureBook::restore(const std::vector<Finished>& listed,
                          std::map<std::string, uint64_t> dropped) {
  for (const Finished& finished : listed) add(finished);
  for (const auto& [way, count] : dropped) seen_ += count;
  dropped_ = std::move(dropped);
}

std::vector<Finished> FailureBook::listed() const {
  std::vector<Finished> out;
  for (const auto& [key, alike] : alike_)
    for (const auto& [index, finished] : alike) out.push_back(finished);
  std::ranges::sort(out, {}, &Finished::index);
  return out;
}

}  // namespace tenon::conformance::campaign
