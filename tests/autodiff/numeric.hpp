// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients held against central differences, on the reference.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/autodiff/autodiff.hpp"
#include "core/ir/text/text.hpp"
#include "core/reference/reference.hpp"

namespace tenon::test {

/// Values of a graph's inputs, by name; the others are drawn.
using Given = std::map<std::string, std::vector<double>>;

struct Numeric {
  double analytic = 0;  ///< sum over u * J * v, by the gradient graph
  double forward = 0;   ///< the same by jacobian_vector
  double numeric = 0;   ///< by central differences
  double scale = 0;     ///< the sum of the absolute terms
};

/// For a random direction v of the float params and a random seed u of the first output.
Numeric directional(const std::string& text, uint64_t seed, const Given& given = {},
                    const GradientOptions& options = {}, double step = 1e-6);

/// CHECKs that all three agree.
void check_gradient(const std::string& text, const Given& given = {},
                    const GradientOptions& options = {}, double tolerance = 1e-6);

Array array_of(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values);

}  // namespace tenon::test
