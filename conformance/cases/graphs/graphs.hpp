// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 2: random graphs of 2 to 30 nodes, over a random subset of the ops each.
#pragma once

#include <optional>

#include "conformance/cases/choices.hpp"
#include "conformance/cases/graphs/template.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::graphs {

/// With an aim the graph has kAims edges grown on purpose, from that coverage cell on, and random
/// growth around them. `flags`: TemplateFlags.
Template build_graph(Choices& choices, Builder& builder, std::optional<uint32_t> aim = {},
                     uint32_t flags = 0);

}  // namespace tenon::conformance::graphs
