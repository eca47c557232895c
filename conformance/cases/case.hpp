// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case: a graph with the values of its inputs, or a sequence of calls of the ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/abi/sequence.hpp"
#include "conformance/cases/choices.hpp"
#include "conformance/cases/device_sizes.hpp"
#include "conformance/cases/outcome.hpp"
#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"

namespace tenon::conformance {

/// How the values of a case are drawn.
enum class ValueMode : uint8_t {
  kExact,        ///< small integers, also in floats: any order of additions gives the same bits
  kConditioned,  ///< inside the domain of the ops, so that errors stay small
  kSpecial,      ///< NaN, zeros, infinities, subnormals, extremes
};
std::string_view mode_name(ValueMode mode);

/// Everything that makes a case again: Generator::remake.
struct Origin {
  uint64_t recipe = 0;  ///< the generator's: which layer, which cell
  std::vector<uint64_t> draws;
  std::vector<Stretch> stretches;
  uint64_t value_seed = 0;
};

/// How a list without a transform is written.
inline constexpr std::string_view kNoTransforms = "none";

struct Case {
  uint64_t seed = 0, index = 0;
  Cell cell;
  ValueMode mode = ValueMode::kConditioned;
  Graph graph;
  std::vector<Array> inputs;  ///< in the order of graph.params
  SymbolValues symbols;
  /// Asks a plugin to compile an op that it does not claim: an error status is the right answer.
  bool refusal = false;
  /// Layer 3: the transforms of each kernel come from this seed, or are written out in `transforms`
  /// (one list a kernel, in the order of the schedule), which then wins.
  std::optional<uint64_t> transform_seed;
  std::vector<std::string> transforms;
  /// With these the device is planned for, in place of its own.
  DeviceSizes sizes;
  /// The graph is a step that is run so many times: its first output is the loss, the others are
  /// what the first inputs become. 0: a case that is run once.
  uint32_t steps = 0;
  /// Layer 4: calls of the ABI in place of the graph.
  std::optional<abi::Sequence> sequence;
  /// Seed of the oracles that are drawn: which metamorphic relation, which aliasing.
  uint64_t oracle_seed = 0;
  Origin origin;
};

}  // namespace tenon::conformance
