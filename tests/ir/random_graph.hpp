// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random legal graphs with every op and attribute of the graph level.
#pragma once

#include <cstdint>

#include "core/ir/build.hpp"

namespace tenon {

/// The same graph for the same seed; about `steps` nodes.
Graph random_graph(Builder& builder, uint64_t seed, int steps = 25);

}  // namespace tenon
