// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plugin keeps: tables of targets by name, and a driver that does not survive fork.
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>

#include "sdk/backend/named_targets.hpp"
#include "sdk/backend/per_process.hpp"

namespace tenon::sdk {

TEST_CASE("a target's table is made once, and an unknown name has none") {
  NamedTargets<> targets;
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::make_unique<PropertyTable>(TN_DEVICE_COMPUTE);
  };
  const tn_properties* first = targets.find("a", make);
  REQUIRE(first);
  CHECK(first->flags == TN_DEVICE_COMPUTE);
  CHECK(targets.find("b", make) != first);
  CHECK(targets.find("a", make) == first);
  CHECK(made == 2);
  const auto none = [] { return std::unique_ptr<PropertyTable>(); };
  CHECK(targets.find("c", none) == nullptr);
  CHECK(targets.find("c", make) != nullptr);
}

TEST_CASE("a value is made once a process, and again where making it failed") {
  static PerProcess<int> kept;  // reachable: what it holds is never destroyed
  CHECK_THROWS(kept.get([]() -> std::unique_ptr<int> { throw std::runtime_error("no driver"); }));
  int& value = kept.get([] { return std::make_unique<int>(1); });
  CHECK(&kept.get([] { return std::make_unique<int>(2); }) == &value);
  const pid_t child = fork();
  if (child == 0) _exit(kept.get([] { return std::make_unique<int>(3); }));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(value == 1);
}

}  // namespace tenon::sdk
