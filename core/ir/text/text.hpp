// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of graphs: prints and parses, and round trips exactly.
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
/// `origin` is what errors call the text, as "softmax.tn". The result is verified.
Graph parse_graph(std::string_view text, Builder& builder, std::string_view origin = "<text>");

}  // namespace tenon
