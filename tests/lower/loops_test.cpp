// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices that end a thread's loops after a number of iterations. That no kernel of the other tests
// runs more of them than loop_trips says, test::difference asks of each.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/kernel/tree/loop_trips.hpp"
#include "core/support/error.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Capabilities limited(uint32_t trips) {
  Capabilities caps = software_like();
  caps.max_loop_trips = trips;
  return caps;
}

LoweredKernel lowered_loops(const std::string& text, const Capabilities& caps,
                            const std::vector<int>& alias = {}) {
  Builder builder;
  return lower(parse_graph(text, builder), caps, "", true, alias);
}

constexpr const char* kRows =
    "graph g(%x: f32[64, 1024]) {\n%y = reduce.add %x, axes=[1]\nreturn %y }";
constexpr const char* kScatter = R"(graph g(%x: f32[4, 8], %i: i32[300, 8], %u: f32[300, 8]) {
  %y = store.add %x, %i, %u, axis=0
  return %y })";

}  // namespace

TEST_CASE("rows that are too long for one register of threads have a workgroup each") {
  for (const uint32_t trips : {0u, 1000u, 200u, 20u}) {
    const Capabilities caps = limited(trips);
    const LoweredKernel kernel = lowered_loops(kRows, caps);
    const int64_t most = loop_trips(kernel.chosen.kernel, 1 << 20).value();
    INFO(trips);
    CHECK(!kernel.loop_bound);
    if (trips == 0) CHECK(most > 250);
    if (trips > 0) CHECK(most <= trips);
    CHECK((kernel.block[0] > 8) == (trips == 20 || trips == 200));
    CHECK(difference({kRows, {}, {}}, caps, "", true) == "");
  }
}

TEST_CASE("what no template makes short enough is refused") {
  CHECK(difference({kScatter, {}, {0}}, limited(400), "", true) == "");
  CHECK_THROWS_MATCHES(lowered_loops(kScatter, limited(200), {0}), Error,
                       MessageMatches(ContainsSubstring("at most 200 iterations")));
}

TEST_CASE("what sizes make too long is refused where they are known") {
  const std::string text = R"(graph g(%x: f32[n, 8]) where 1 <= n <= 100000 {
    %y = reduce.add %x, axes=[0]
    return %y })";
  const LoweredKernel kernel = lowered_loops(text, limited(300));
  REQUIRE(kernel.loop_bound);
  CHECK_NOTHROW(kernel.loop_bound->check({{"n", 400}}));
  CHECK_THROWS_MATCHES(kernel.loop_bound->check({{"n", 100000}}), Error,
                       MessageMatches(ContainsSubstring("at most 300 iterations")));
  CHECK(!lowered_loops(text, limited(0)).loop_bound);
}
