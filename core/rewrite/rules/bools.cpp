// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on bool as logic, which every device has.
#include "core/rewrite/pattern.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {

Rules bool_rules() {
  static constexpr TextRule kRules[] = {
      {"bool x+y", kBool, "add(x, y)", "or(x, y)"},
      {"bool x*y", kBool, "mul(x, y)", "and(x, y)"},
      {"bool max", kBool, "max(x, y)", "or(x, y)"},
      {"bool min", kBool, "min(x, y)", "and(x, y)"},
      {"bool x<y", kBool, "cmplt(x, y)", "and(xor(x, 1), y)"},
      {"bool x!=y", kBool, "cmpne(x, y)", "xor(x, y)"},
      {"bool x==y", kBool, "cmpeq(x, y)", "xor(xor(x, y), 1)"},
  };
  return compile(kRules);
}

}  // namespace tenon::rewrite
