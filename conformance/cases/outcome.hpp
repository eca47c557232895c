// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What became of a case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::conformance {

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
  kToolError,
};
inline constexpr int kStatusCount = 11;
std::string_view status_name(Status status);  ///< "PASS"
/// Throws kInvalid.
Status status_from_name(std::string_view name);
/// FAIL, CRASH, TIMEOUT, DEVICE_LOST, FLAKY, XPASS: what makes the exit code 1.
bool is_failure(Status status);
/// A failure, or TOOL_ERROR: what a report lists.
inline bool is_listed(Status status) { return is_failure(status) || status == Status::kToolError; }
/// Whether the device ran, or had to run, anything.
inline bool is_tried(Status status) {
  return status != Status::kUnsupported && status != Status::kToolError;
}

/// The row of the report that a case belongs to.
struct Cell {
  std::string op;      ///< "add", "cast.i8", "reduce.max", "graph", "api.short_structs"
  std::string dtype;   ///< "f32"; of a graph its main float; "-" of an API check
  std::string layout;  ///< "contiguous", "flipped", ...
};

/// What the outputs needed beyond the strictest profile: bits. The report proposes the tightest
/// profile from their union.
enum Needs : uint32_t {
  kNeedsFlush = 1,  ///< a subnormal read or written as zero
  kNeedsNoNan = 2,  ///< a NaN that is none, or a number for it
  kNeedsNoInf = 4,
  kNeedsSignedZero = 8,  ///< a zero of the other sign
  kNeedsContract = 16,   ///< multiply and add fused
  kNeedsRelaxed = 32,    ///< an error beyond the strict bounds
};

/// Which stretch of the axis an operand lies in: 8 to an octave of |x|, ascending with |x|,
/// negative for negative operands, 0 for zero. `x` is finite.
int ulp_bucket(double x);

/// The worst error in one stretch of an operand of a unary float op, for plots.
struct UlpSample {
  int bucket = 0;  ///< 8 to an octave of |x|, negative operands mirrored; see ulp_bucket
  double ulp = 0;
  double at = 0;      ///< the operand
  double bound = -1;  ///< error that the declared profile allows there, in ULP; < 0: not known
};

/// What one case came to. `kind` is the class of the failure, which shrinking must keep:
/// mismatch, guard, poison, input, nondeterminism, alias, metamorphic, order, history,
/// "fresh process", error, support, limit, leak, memory, SIGSEGV, exit, run, compile, earlier. Of a
/// TOOL_ERROR it is program, generator, reference or text.
struct Outcome {
  Status status = Status::kPass;
  std::string kind = {};
  std::string text = {};         ///< a sentence
  double worst_ulp = 0;          ///< of float outputs against the reference's value
  std::string worst_input = {};  ///< operands of that element, where an op has them one by one
  uint64_t digest = 0;           ///< of every output bit of the first run; 0 if nothing ran
  uint32_t needs = 0;            ///< Needs
  std::vector<UlpSample> ulps = {};
  /// Of a mismatch, the first 16 elements: lines "[i, j]\texpected\tgot\tulp".
  std::string diff = {};
  std::string transforms = {};  ///< of a layer 3 case: the list of each kernel, one a line
};

/// FAIL of a kind.
Outcome failed(std::string kind, std::string text);
/// TOOL_ERROR of a kind: the case is not legal, so it says nothing about the device.
Outcome tool_error(std::string kind, std::string text);

/// A case of a run that has ended.
struct Finished {
  uint64_t index = 0;
  uint64_t attempt = 0;  ///< of the generator: how often it drew other values
  Cell cell;
  Outcome outcome;
  std::vector<uint32_t> reached = {};  ///< coverage cells that its process had not reached before
  /// Index of the first case that the same process ran: what may have set the stage.
  uint64_t process_begin = 0;
  /// The cases that it ran before, if they are not those from process_begin on.
  std::vector<uint64_t> before = {};
};

}  // namespace tenon::conformance
