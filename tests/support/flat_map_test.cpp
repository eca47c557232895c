// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/flat_map.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>

using namespace tenon;

TEST_CASE("a flat map holds what std's does") {
  std::mt19937 random(1);
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("%" + std::to_string(random() % 2000));
  FlatMap<std::string_view, int> map;
  std::unordered_map<std::string_view, int> expected;
  for (int i = 0; i < 3000; ++i) {
    const auto [at, is_new] = map.try_emplace(names[i], i);
    const auto [wanted, is_wanted] = expected.try_emplace(names[i], i);
    REQUIRE(is_new == is_wanted);
    REQUIRE(*at == wanted->second);
    REQUIRE(map.size() == expected.size());
  }
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "%" + std::to_string(i);
    REQUIRE(map.contains(name) == expected.contains(name));
    if (map.contains(name)) REQUIRE(map.at(name) == expected.at(name));
  }
  CHECK(!map.find("%none"));
}

TEST_CASE("a flat map of addresses owns its values") {
  const auto shared = std::make_shared<int>(7);
  {
    std::vector<int> keys(1000);
    FlatMap<const int*, std::shared_ptr<int>> map;
    CHECK(!map.contains(keys.data()));
    map.reserve(10);
    for (const int& key : keys) map.try_emplace(&key, shared);
    for (const int& key : keys) CHECK(!map.try_emplace(&key).second);
    CHECK(shared.use_count() == 1001);
    CHECK(map.at(&keys[999]) == shared);
  }
  CHECK(shared.use_count() == 1);
}
