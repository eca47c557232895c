// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 2: random graphs of 2 to 30 nodes, over a random subset of the ops each.
#pragma once

#include "conformance/cases/choices.hpp"
#include "conformance/cases/template.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

Template build_graph(Choices& choices, Builder& builder);

}  // namespace tenon::conformance
