// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case: a graph with the values of its inputs; and what became of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// The row of the report that a case belongs to.
struct Cell {
  std::string op;      ///< "add", "cast.i8", "reduce.max", "graph"
  std::string dtype;   ///< "f32"; of a graph "mixed"
  std::string layout;  ///< "contiguous", "flipped", ...
};

struct Case {
  uint64_t seed = 0, index = 0;
  Cell cell;
  ValueMode mode = ValueMode::kConditioned;
  Graph graph;
  std::vector<Array> inputs;  ///< in the order of graph.params
  SymbolValues symbols;
  /// Asks a plugin to compile an op that it does not claim: an error status is the right answer.
  bool refusal = false;
};

enum class Status : uint8_t {
  kPass,
  kFail,
  kUnsupported,
  kCrash,
  kTimeout,
  kDeviceLost,
  kFlaky,
  kVacuous,
  kXfail,
  kXpass,
};
inline constexpr int kStatusCount = 10;
std::string_view status_name(Status status);  ///< "PASS"
/// Throws kInvalid.
Status status_from_name(std::string_view name);
/// FAIL, CRASH, TIMEOUT, DEVICE_LOST, FLAKY, XPASS: what makes the exit code 1.
bool is_failure(Status status);

/// What one case came to. `kind` is the class of the failure, which shrinking must keep:
/// "mismatch", "guard", "poison", "input", "nondeterminism", "error", "SIGSEGV", "run", "compile".
struct Outcome {
  Status status = Status::kPass;
  std::string kind;
  std::string text;         ///< a sentence
  double worst_ulp = 0;     ///< of float outputs against the reference's value
  std::string worst_input;  ///< operands of that element, where an op has them element by element
};

}  // namespace tenon::conformance
