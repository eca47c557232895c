// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers are set exactly between commands that touch the same bytes, if one writes.
#include "sdk/backend/hazards.hpp"

#include <catch2/catch_test_macros.hpp>

#include "sdk/backend/submission.hpp"

namespace tenon::sdk {
namespace {

bool touch(Hazards& hazards, std::initializer_list<Hazards::Access> command) {
  return hazards.need_barrier({command.begin(), command.size()});
}

}  // namespace

TEST_CASE("commands that write what others touched need a barrier") {
  Hazards hazards;
  const int a = 0, b = 0;
  CHECK_FALSE(touch(hazards, {{&a, 0, 16, true}}));
  CHECK_FALSE(touch(hazards, {{&a, 16, 16, true}}));
  CHECK_FALSE(touch(hazards, {{&b, 0, 32, true}}));
  CHECK(touch(hazards, {{&b, 64, 8, false}, {&a, 31, 1, false}}));
  CHECK_FALSE(touch(hazards, {{&a, 24, 16, false}}));
  CHECK(touch(hazards, {{&a, 24, 1, true}}));
  hazards.clear();
  CHECK_FALSE(touch(hazards, {{&a, 24, 1, true}}));
}

TEST_CASE("a barrier stands at the latest after many commands") {
  Hazards hazards;
  const int a = 0;
  int barriers = 0;
  for (uint64_t i = 0; i < 1000; ++i) barriers += touch(hazards, {{&a, i * 8, 8, true}});
  CHECK(barriers > 0);
  CHECK(barriers < 100);
}

TEST_CASE("a pattern is repeated to eight bytes") {
  CHECK(repeat_pattern(0x1234, 1) == 0x3434343434343434);
  CHECK(repeat_pattern(0x8765, 2) == 0x8765876587658765);
  CHECK(repeat_pattern(0xff00000001, 4) == 0x0000000100000001);
  CHECK(repeat_pattern(0x8877665544332211, 8) == 0x8877665544332211);
}

}  // namespace tenon::sdk
