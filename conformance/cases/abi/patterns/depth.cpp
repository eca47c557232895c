// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One executable launched dozens of times, each with scalars and memory of its own: in one
// submission, or in as many that are in flight together; after it was saved, loaded, or asked for
// its text.
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"
#include "conformance/cases/abi/programs.hpp"

namespace tenon::conformance::abi {
namespace {

struct Way {
  std::string_view name;
  int64_t flags;
};
constexpr Way kSubmissionWays[] = {{"together", 0}, {"apart", kApart}};
constexpr Way kUsesBefore[] = {
    {"plain", 0}, {"saved", kSaved}, {"told", kTold}, {"reloaded", kReloaded}};
constexpr int64_t kLaunchDepths[] = {9, 20, 40, 63};

/// A scalar and a buffer of each dtype, combined so that each shows.
SequenceStep deep_program(Choices& choices, tn_dtype dtype, int64_t launches, int64_t flags) {
  ProgramKit kit("deep");
  constexpr int64_t kThreads = 6;
  const auto code = static_cast<uint8_t>(dtype);
  const int64_t scalars = choices.between(1, 3);
  const auto out = kit.builder.buffer("out", dtype, TN_ACCESS_READ | TN_ACCESS_WRITE,
                                      uint64_t(kThreads * (scalars + 1)));
  const auto in = kit.builder.buffer("in", dtype, TN_ACCESS_READ, kThreads);
  std::vector<ProgramKit::Value> given;
  for (int64_t k = 0; k < scalars; ++k) {
    const bool is_whole = sdk::is_integer(code);
    given.push_back(kit.builder.scalar("s" + std::to_string(k), dtype, 0, is_whole ? 100 : 0));
  }
  const auto thread = kit.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  kit.store(out, thread, kit.load(in, thread));
  for (int64_t k = 0; k < scalars; ++k)
    kit.store(out, kit.plus(thread, kit.whole(kThreads * (k + 1))), given[size_t(k)]);
  return kit.step(kThreads, choices.between(1, 99), flags, launches);
}

}  // namespace

std::vector<Pattern> depth_patterns() {
  std::vector<Pattern> out;
  for (const int64_t launches : kLaunchDepths)
    for (const Way& way : kSubmissionWays)
      for (const Way& before : kUsesBefore) {
        const int64_t flags = way.flags | before.flags;
        out.push_back(
            {"depth",
             std::to_string(launches) + " " + std::string(way.name) + " " +
                 std::string(before.name),
             [launches, flags](Choices& choices) {
               constexpr tn_dtype kScalars[] = {TN_DTYPE_I32, TN_DTYPE_F32, TN_DTYPE_I64};
               const tn_dtype dtype = choices.pick(kScalars);
               return DrawnPattern{{deep_program(choices, dtype, launches, flags)}, dtype};
             }});
      }
  return out;
}

}  // namespace tenon::conformance::abi
