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
#include <vector>

#include "tenon/dtype.hpp"
#include "tenon/export.hpp"
#include "tenon/size.hpp"

namespace tenon {

class Context;
struct Graph;

/// An input or output of a function.
struct FunctionValue {
  std::string name;  ///< "" for an output without one
  DType dtype = DType::kVoid;
  Sizes sizes;
};

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
  std::vector<FunctionValue> inputs() const;
  std::vector<FunctionValue> outputs() const;

  /// The function that gives `output` ("": the first) and its gradient by some of the inputs, named
  /// d_INPUT. An output of several elements has a seed, d_OUTPUT, as one input more. Throws
  /// kInvalid for a name that is none, an input of integers, and one that the output does not
  /// depend on.
  Function gradient(const std::vector<std::string>& inputs, Context& context,
                    const std::string& output = "") const;

  const Graph& graph() const { return *graph_; }  ///< the library's own
  const std::shared_ptr<const Graph>& shared_graph() const { return graph_; }  ///< the same

 private:
  explicit Function(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<const Graph> graph_;
};

}  // namespace tenon
