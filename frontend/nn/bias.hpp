// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bias that a layer of products may have.
#pragma once

#include <optional>

#include "tenon/nn/initialisers.hpp"

namespace tenon::nn {

/// [outputs], from uniform within `bound`; none where it is not wanted.
inline std::optional<Parameter> bias_of(bool wanted, int64_t outputs, double bound) {
  if (!wanted) return {};
  return Parameter({outputs}, uniform(-bound, bound));
}

}  // namespace tenon::nn
