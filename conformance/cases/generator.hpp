// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From (seed, index) to a case, the same in every process: plan.hpp says which.
#pragma once

#include <string>

#include "conformance/cases/graphs/template.hpp"
#include "conformance/cases/plan.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

/// Indices from here on are those of `run`.
inline constexpr uint64_t kRunBase = 1'000'000'000;
/// And from here on those of `compile`: each cell once, then graphs, by turns with the rules'
/// transforms and with random ones.
inline constexpr uint64_t kCompileBase = 2'000'000'000;
/// From here on those of devices that compute nothing: memory_cases.hpp.
inline constexpr uint64_t kMemoryBase = 3'000'000'000;
/// Cases of a block belong to one layer and share few graphs; a worker is given whole blocks.
inline constexpr uint64_t kBlock = 32;

/// One past the last index of `run`.
uint64_t run_end();

class Generator {
 public:
  Generator(uint64_t seed, Builder& builder) : seed_(seed), builder_(builder) {}

  Case make(uint64_t index, uint64_t attempt = 0);
  /// A case from edited draws of another; its own origin holds the draws that were really used.
  /// Throws kInvalid where they make no case.
  Case remake(const Case& like, const Origin& origin);
  /// The graph of a case of `compile`, without values.
  Case make_plain(uint64_t index);

 private:
  struct CachedTemplate {
    uint64_t key = 0;
    graphs::Template shape;
  };
  const graphs::Template& cached(const Plan& plan);

  uint64_t seed_;
  Builder& builder_;
  std::vector<CachedTemplate> cache_;  ///< the last few; cases of twins alternate
};

/// "7:1234" and back. Throws kInvalid.
std::string case_name(uint64_t seed, uint64_t index);
std::pair<uint64_t, uint64_t> parse_case_name(std::string_view text);

}  // namespace tenon::conformance
