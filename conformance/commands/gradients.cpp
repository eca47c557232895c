// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gradients: every graph of the generator, differentiated and held against central differences.
#include <array>
#include <nlohmann/json.hpp>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/graphs.hpp"
#include "conformance/cases/random.hpp"
#include "conformance/commands/commands.hpp"
#include "conformance/judge/gradient_proof.hpp"
#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance::commands {
namespace {

constexpr uint64_t kStandardCases = 1000, kMostShown = 10;

/// Graph number `index`, with conditioned values.
Case random_case(uint64_t seed, uint64_t index, Builder& builder) {
  // What the core refuses is drawn again, as in the generator.
  for (uint64_t attempt = 0;; ++attempt) {
    try {
      Choices choices(mix(mix(seed, index), attempt));
      const graphs::Template shape = graphs::build_graph(choices, builder);
      return graphs::instantiate(shape, seed, 4 * index + 1, mix(seed, index));
    } catch (const Error&) {
      if (attempt == 8) throw;
    }
  }
}

struct Wrong {
  uint64_t index;
  std::string reason, graph;
};

}  // namespace

int gradients_command(const RunOptions& options) {
  const uint64_t count = options.cases ? options.cases : kStandardCases;
  std::array<uint64_t, std::size(judge::kProofNames)> counts{};
  std::vector<Wrong> wrong;
  for (uint64_t i = options.first; i < options.first + count; ++i) {
    Builder builder;
    const Case test = random_case(options.seed, i, builder);
    const judge::GradientProof proof = judge::prove_gradient(test, mix(options.seed, ~i), builder);
    ++counts[static_cast<size_t>(proof.proof)];
    if (proof.proof == judge::Proof::kWrong && wrong.size() < kMostShown)
      wrong.push_back({i, proof.reason, print(test.graph)});
  }
  if (options.json) {
    nlohmann::json facts{{"seed", options.seed}, {"first", options.first}, {"graphs", count}};
    for (size_t k = 0; k < counts.size(); ++k)
      facts[std::string(judge::kProofNames[k])] = counts[k];
    facts["failures"] = nlohmann::json::array();
    for (const Wrong& w : wrong)
      facts["failures"].push_back({{"index", w.index}, {"reason", w.reason}, {"graph", w.graph}});
    say("{}\n", Lines{json_text(facts)});
  } else {
    for (const Wrong& w : wrong)
      say("{} graph {} of seed {}: {}\n{}\n", paint("WRONG", "31;1"), w.index, options.seed,
          w.reason, Lines{w.graph});
    say("{} graphs\n", count);
    for (size_t k = 0; k < counts.size(); ++k)
      say("  {:<12} {}\n", judge::kProofNames[k], counts[k]);
  }
  if (counts[static_cast<size_t>(judge::Proof::kWrong)]) return kExitFailures;
  return counts[static_cast<size_t>(judge::Proof::kProven)] ? kExitOk : kExitNothing;
}

}  // namespace tenon::conformance::commands
