// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of graphs. Printing and parsing round-trip exactly.
//
//   graph softmax(%x: f32[n, 10]) where 1 <= n <= 4096 {
//     %m = reduce.max %x, axes=[1]      : f32[n, 1]
//     %e = expand %m                    : f32[n, 10]
//     ...
//     return %y
//   }
//
// docs/ir.md has the grammar. Errors name file, line and column.
#pragma once

#include <string>
#include <string_view>

#include "core/ir/build.hpp"
#include "core/ir/node.hpp"

namespace tenon {

std::string print(const Graph& graph);
/// Parses and verifies a graph. Errors call the text `origin`, as "softmax.tn".
Graph parse_graph(std::string_view text, Builder& builder, std::string_view origin = "<text>");

}  // namespace tenon
