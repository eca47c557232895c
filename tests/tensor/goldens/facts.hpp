// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What docs/tensor.md says of the functions: their meaning from the public headers, the rest as
// run.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tenon/dtype.hpp"
#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {

/// Of one function.
struct Facts {
  std::set<DType> dtypes;  ///< of the first operand, or of what is made
  int kernels = -1;        ///< most of all cases of one element or more
};

/// Comments of functions and members in the public headers, by name.
std::map<std::string, std::string> public_comments();

std::string facts_table(std::span<const Function> functions,
                        const std::map<std::string, Facts>& facts);

}  // namespace tenon::test
