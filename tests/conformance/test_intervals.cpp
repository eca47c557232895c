// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals hold what a correct device may answer: a careless one is never refused.
#include <catch2/catch_test_macros.hpp>

#include "conformance/cases/generator.hpp"
#include "conformance/judge/compare.hpp"
#include "core/compile/compiler.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/plausible_device.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::graphs;
using namespace tenon::conformance::judge;

namespace {

struct IntervalRow {
  const char* name;
  bool strict, hints, narrow;  ///< narrow: arithmetic on floats below f32
  uint32_t numerics;
};

constexpr uint32_t kFlush = kFlushInput | kFlushOutput;
constexpr IntervalRow kIntervalRows[] = {
    {"strict, all claimed", true, true, true, 0},
    {"strict, nothing claimed", true, false, false, 0},
    {"strict, flushes", true, false, false, kFlush},
    {"strict, flushes results, half", true, true, true, kFlushOutput},
    {"strict, contracts", true, true, false, kContract},
    {"strict, contracts, nothing claimed", true, false, true, kContract},
    {"relaxed, all claimed", false, true, true, 0},
    {"relaxed, flushes", false, false, false, kFlush},
    {"relaxed, finite only", false, false, true, kNoNan | kNoInf | kNoSignedZero},
    {"relaxed, everything", false, true, false,
     kFlush | kNoNan | kNoInf | kNoSignedZero | kContract}};

Capabilities capabilities_of(const IntervalRow& row) {
  Capabilities c = generic_capabilities();
  c.strict = row.strict;
  c.numerics = row.numerics;
  if (!row.hints) c.native_ops.fill(0);
  for (const DType dtype : all_dtypes())
    if (is_float(dtype) && dtype_size(dtype) < 4)
      c.dtypes[static_cast<size_t>(dtype)].arithmetic = row.narrow && dtype_size(dtype) == 2;
  return c;
}

bool has_region(const Graph& graph) {
  for (const NodeRef& node : topological(graph.outputs))
    if (node->op == Op::IF || node->op == Op::LOOP) return true;
  return false;
}

}  // namespace

TEST_CASE("a careless but correct device is accepted, whatever its profile") {
  // Past the sweep, where blocks are drawn: six cases of each.
  constexpr uint64_t kSeed = 31, kFirstBlock = 200, kCases = 900;
  Builder builder;
  for (const IntervalRow& row : kIntervalRows) {
    const Capabilities capabilities = capabilities_of(row);
    const Profile profile = Profile::of(capabilities);
    const Compiler compiler(builder);
    Generator generator(kSeed, builder);
    int judged = 0, wrong = 0;
    for (uint64_t k = 0; k < kCases; ++k) {
      const uint64_t index = (kFirstBlock + k / 6) * kBlock + k % 6;
      const Case test = generator.make(index);
      if (test.refusal || test.sequence || has_region(test.graph)) continue;
      Graph legal;
      try {
        legal = compiler.legalise(compiler.simplify(test.graph, std::array{&capabilities}),
                                  capabilities);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kUnsupported) throw;
        continue;
      }
      PlausibleDevice device(profile, mix(kSeed, index));
      const std::vector<Array> got = device.run(legal, test.inputs, test.symbols);
      const Comparison result = compare(expect(test, profile), got, profile);
      ++judged;
      wrong += result.mismatch.has_value();
      INFO(row.name << ", case " << case_name(kSeed, index) << " " << test.cell.op << " "
                    << test.cell.dtype);
      INFO(result.mismatch.value_or(""));
      CHECK_FALSE(result.mismatch.has_value());
      if (wrong > 3) break;
    }
    INFO(row.name);
    CHECK(judged > 100);
  }
}
