// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph of the text form, as a function of arrays.
//
//   graph softmax(%x: f32[n, 10]) where 1 <= n <= 4096 {
//     %m = reduce.max %x, axes=[1]      : f32[n, 1]
//     %e = expand %m                    : f32[n, 10]
//     ...
//     return %y
//   }
//
// docs/ir.md has the grammar.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

class Context;
struct Graph;

/// A cheap handle of a graph that does not change. It belongs to the Context that parsed it.
class TENON_API Function {
 public:
  /// `origin` is what errors call the text, as "softmax.tn". Throws kInvalid, naming line and
  /// column.
  static Function parse(std::string_view text, Context& context,
                        std::string_view origin = "<text>");
  Function(const Function&) = default;  // a move is a copy: none is left empty
  Function& operator=(const Function&) = default;

  const std::string& name() const;
  std::string text() const;  ///< parses back to the same graph

  const Graph& graph() const { return *graph_; }  ///< the library's own

 private:
  explicit Function(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<const Graph> graph_;
};

}  // namespace tenon
