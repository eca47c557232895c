// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph that many cases share: they differ in values and in the sizes of its symbols, so a
// plugin that compiles pays once for all of them.
#pragma once

#include "conformance/cases/case.hpp"
#include "conformance/cases/graphs/values.hpp"

namespace tenon::conformance::graphs {

struct Template {
  Cell cell;
  Graph graph;
  std::vector<Domain> domains;  ///< of each param
  bool refusal = false;
  std::optional<abi::Sequence> sequence;  ///< in place of the graph
  Origin origin;                          ///< but for the seed of the values
};

/// The case of this index with values from `value_seed`.
Case instantiate(const Template& shape, uint64_t seed, uint64_t index, uint64_t value_seed);

/// Sorts out what a finished graph reads: params in the order of their first use, and symbols.
/// `domains` follow from the order in which the params were made.
void finish_graph(Template& shape, std::vector<NodeRef> outputs,
                  const std::vector<std::pair<NodeRef, Domain>>& params);

}  // namespace tenon::conformance::graphs
