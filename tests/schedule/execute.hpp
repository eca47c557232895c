// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a schedule step by step with the reference, in real arenas laid out by the memory plan: what
// overlaps or is used too late gives wrong bytes.
#pragma once

#include <vector>

#include "core/reference/reference.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon::test {

std::vector<Array> execute(const Schedule& schedule, const std::vector<Array>& inputs,
                           const SymbolValues& symbols = {},
                           const std::vector<InputPlace>& places = {});

/// Small numbers, the same for the same seed; integers for integer dtypes, false and true for bool.
std::vector<Array> some_inputs(const Graph& graph, uint32_t seed, const SymbolValues& symbols = {});

/// Requires that the schedule gives the bits that the whole graph gives, and writes over inputs
/// that are donated alone.
void require_same(const Graph& graph, const Schedule& schedule, uint32_t seed,
                  const SymbolValues& symbols = {}, const std::vector<InputPlace>& places = {});

}  // namespace tenon::test
