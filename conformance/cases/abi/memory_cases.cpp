// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/memory_cases.hpp"

#include "conformance/cases/generator.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr std::string_view kPrefix = "memory.";

}  // namespace

const std::vector<std::string>& memory_check_names() {
  static const std::vector<std::string> names{"whole",    "ranges", "neighbours",
                                              "commands", "growth", "file"};
  return names;
}

Case memory_case(uint64_t seed, uint64_t number) {
  TN_REQUIRE(number < memory_check_names().size(), "[generator] expected a check below {}, got {}",
             memory_check_names().size(), number);
  const std::string name = std::string(kPrefix) + memory_check_names()[number];
  Case out;
  out.seed = seed;
  out.index = kMemoryBase + number;
  out.cell = {name, "-", "-"};
  out.sequence = Sequence{name, {}};
  return out;
}

std::string memory_check_of(const Case& test) {
  if (!test.sequence || !test.sequence->check.starts_with(kPrefix)) return {};
  return test.sequence->check.substr(kPrefix.size());
}

}  // namespace tenon::conformance::abi
