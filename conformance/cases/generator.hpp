// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From (seed, index) to a case, the same in every process: `fuzz` draws cells and graphs at random,
// `run` walks all cells and then a fixed number of graphs.
#pragma once

#include <memory>
#include <string>

#include "conformance/cases/template.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

/// Indices from here on are those of `run`.
inline constexpr uint64_t kRunBase = 1'000'000'000;
/// And from here on those of `compile`: each cell once, then graphs, by turns with the rules'
/// transforms and with random ones.
inline constexpr uint64_t kCompileBase = 2'000'000'000;
/// Cases of a block share their graphs; a block is what a worker is given at once.
inline constexpr uint64_t kBlock = 16;

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
  uint64_t shape_key(uint64_t index) const;
  bool is_cell_block(uint64_t index) const;
  uint64_t recipe_of(uint64_t index) const;
  uint64_t shape_seed(uint64_t index) const;
  Template build(uint64_t recipe, Choices choices);

  uint64_t seed_;
  Builder& builder_;
  uint64_t shape_key_ = UINT64_MAX;
  Template shape_;  ///< of shape_key_
};

/// "7:1234" and back. Throws kInvalid.
std::string case_name(uint64_t seed, uint64_t index);
std::pair<uint64_t, uint64_t> parse_case_name(std::string_view text);

}  // namespace tenon::conformance
