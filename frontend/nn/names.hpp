// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that know what they are called.
#pragma once

#include <vector>

#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// Each parameter keeps its name in the model, for messages of its layer.
void tell_names(const std::vector<Named>& tensors);

}  // namespace tenon::nn
