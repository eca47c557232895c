// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a template is made from. Packed into a word it is Origin::recipe.
#pragma once

#include <cstdint>

namespace tenon::conformance {

enum class Layer : uint8_t {
  kCell,      ///< number: of all_cells()
  kGraph,     ///< number: 0, or 1 + the coverage cell that it first aims at
  kCheck,     ///< number: of abi_checks()
  kSequence,  ///< of API calls
  kGradient,  ///< of a graph; number: as of kGraph
  kPattern,   ///< number: of abi::all_patterns()
};

/// Variations of a cell or graph.
enum TemplateFlags : uint32_t {
  kExhaustive = 1,     ///< takes every code of its dtype
  kBig = 2,            ///< tens of thousands of elements
  kTailed = 4,         ///< sizes that leave tails and remainders, for transforms
  kWithConstant = 8,   ///< one operand is a CONST
  kFused = 32,         ///< of a graph: what kernels do otherwise than op by op, and little else
  kOtherConstant = 16  ///< and it has the other sign: the twin of a template without this flag
};

struct TemplateSpec {
  Layer layer = Layer::kCell;
  uint32_t number = 0;
  uint32_t flags = 0;  ///< TemplateFlags

  uint64_t pack() const {
    return static_cast<uint64_t>(layer) << 56 | static_cast<uint64_t>(flags) << 32 | number;
  }
  static TemplateSpec unpack(uint64_t word) {
    return {static_cast<Layer>(word >> 56), static_cast<uint32_t>(word),
            static_cast<uint32_t>(word >> 32) & 0xFFFFFF};
  }
};

}  // namespace tenon::conformance
