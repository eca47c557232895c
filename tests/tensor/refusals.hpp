// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that are refused, and what the refusal says.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tenon/error.hpp"

namespace tenon::test {

template <class Action>
void refuses(Action action, const std::string& why) {
  REQUIRE_THROWS_MATCHES(action(), Error,
                         Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(why)));
}

}  // namespace tenon::test
