// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of what a model is made of.
//
//   std::puts(nn::summary(model, [&](Mlp& m) { return m(x); }).c_str());
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

namespace fields {
TENON_API std::string summary(const std::vector<Named>& tensors,
                              const std::function<Tensor()>& forward);
}

/// A row for each layer with tensors of its own: their shapes, how many numbers are learned, and
/// the operations of forward(model), by the rule of tenon::cost; below the sums, with the kernels
/// that forward is run by. The model must be initialised; it stays as it is.
template <Module M, class F>
std::string summary(M model, const F& forward) {
  return fields::summary(tensors(model), [&] { return forward(model); });
}

}  // namespace tenon::nn
