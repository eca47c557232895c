// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers within pieces, which run at some steps and not at others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::nn {

/// A piece that keeps its own slots, then those of `inner` under the names of its pieces.
Optimizer around(std::string name, std::vector<Slot> own, const Optimizer& inner,
                 std::function<void(Update&)> update);

/// Runs the pieces of `inner`, whose slots begin at `first`.
void run(const Optimizer& inner, Update& of, size_t first);
/// Runs the pieces of `inner`, whose slots begin at `first`. Where the condition, bool [], is false
/// updates become 0 and the slots stay.
void run_where(const Tensor& condition, const Optimizer& inner, Update& of, size_t first);

}  // namespace tenon::nn
