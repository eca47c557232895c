// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs as text with few nodes and about 2^40 paths through them.
#pragma once

#include <string>
#include <vector>

namespace tenon::test {

struct Dag {
  std::string name, text;
};

/// One for each kind of node: sums, selects, views, casts, reductions, gathers, attention, nested
/// bodies, ...
std::vector<Dag> graph_dags();
/// Graphs in each other, nearly as deep as they may be, each with two uses of the next.
std::vector<Dag> deep_bodies();

}  // namespace tenon::test
