// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/passes.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon {

Graph simplify(const Graph& graph, Builder& builder) {
  using namespace rewrite;
  static const Rules rules =
      fold_rules() + movement_rules() + cast_rules() + reduce_rules() + algebra_rules();
  return run(graph, rules, builder);
}

}  // namespace tenon
