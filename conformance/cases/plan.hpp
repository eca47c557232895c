// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which template each index has: the layers, their shares and their order.
//
// `fuzz` begins with a sweep: the quick checks of the ABI, then every op in every dtype, mixed with
// patterns and a few graphs, transforms and sequences; after 256 of these come the checks of large
// numbers, which take a second each. After it each block is drawn: of 100, 36 are
// cells (one template a block, with now and then one huge case), 6 twins (four templates that
// differ in dtype or in the sign of a constant only: what a cache must keep apart), 13 graphs, 4
// gradients of graphs, 10 transforms, 15 patterns, 14 sequences (of which two thirds are random
// programs), 1 checks, 1 refusals.
//
// `run` begins with the checks in the same way. Then comes a pass over every op in every dtype,
// with a few of all else between them, so that whatever it is given of time is spread over
// everything; and then every cell, with the others between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "conformance/cases/template_spec.hpp"

namespace tenon::conformance {

struct Plan {
  TemplateSpec spec;
  uint64_t seed = 0;  ///< of the template's choices
  uint64_t key = 0;   ///< equal for the cases that share the template
  std::optional<uint64_t> transform_seed;
};

Plan plan_case(uint64_t seed, uint64_t index);

inline constexpr std::string_view kLayerNames[] = {"cells",  "graphs",    "transforms", "sequences",
                                                   "checks", "gradients", "patterns"};
int layer_of(const Plan& plan);  ///< position in kLayerNames

}  // namespace tenon::conformance
