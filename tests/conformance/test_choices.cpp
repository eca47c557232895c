// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices and what is made from edited ones: a legal case or a refusal, never more.
#include <catch2/catch_test_macros.hpp>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/shapes.hpp"
#include "conformance/cases/reproducer.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::graphs;

namespace {

/// All that a case is, with every bit of its inputs.
std::string text_of(const Case& test) {
  if (test.sequence) return print(*test.sequence);
  return write_reproducer({test, {}, "any"});
}

/// What shrinkers do: deletes, zeroes, lowers, swaps; and what they do not.
std::vector<uint64_t> edited(std::vector<uint64_t> draws, const std::vector<Stretch>& stretches,
                             Random& random) {
  const auto cut = [&](size_t begin, size_t end) {
    draws.erase(draws.begin() + static_cast<std::ptrdiff_t>(begin),
                draws.begin() + static_cast<std::ptrdiff_t>(std::max(begin, end)));
  };
  if (draws.empty()) return {random.bits()};
  const size_t at = random.below(draws.size());
  switch (random.below(6)) {
    case 0:
      draws[at] = 0;
      break;
    case 1:
      draws[at] /= 2;
      break;
    case 2:
      draws[at] = random.bits();
      break;
    case 3:
      draws.resize(at);
      break;
    case 4:
      cut(at, std::min(draws.size(), at + random.below(5)));
      break;
    default:
      if (stretches.empty()) break;
      const Stretch& stretch = random.pick(stretches);
      if (stretch.end <= draws.size()) cut(stretch.begin, stretch.end);
      break;
  }
  return draws;
}

}  // namespace

TEST_CASE("choices replay, and zeros follow the last one") {
  Choices fresh(42);
  const uint64_t a = fresh.below(1000), b = fresh.bits();
  const int64_t c = fresh.between(-5, 5);
  Choices again(fresh.draws());
  CHECK(again.below(1000) == a);
  CHECK(again.bits() == b);
  CHECK(again.between(-5, 5) == c);
  CHECK(again.below(1000) == 0);
  CHECK(again.between(-5, 5) == -5);
  CHECK_FALSE(again.chance(99));
  Choices clamped(std::vector<uint64_t>{1000});
  CHECK(clamped.below(7) == 6);
}

TEST_CASE("scopes nest and mark their draws") {
  Choices choices(1);
  {
    const Choices::Scope outer(choices, Part::kNode);
    choices.bits();
    const Choices::Scope inner(choices, Part::kDimension);
    choices.bits();
  }
  REQUIRE(choices.stretches().size() == 2);
  CHECK(choices.stretches()[0].end == 2);
  CHECK(choices.stretches()[1].begin == 1);
  CHECK(choices.stretches()[1].part == Part::kDimension);
}

TEST_CASE("a case is made again from its own choices") {
  Builder builder;
  Generator generator(9, builder);
  for (uint64_t i = 0; i < 12000; i += 29) {
    INFO("case 9:" << i);
    const Case test = generator.make(i);
    const Case again = generator.remake(test, test.origin);
    REQUIRE(text_of(again) == text_of(test));
    CHECK(again.origin.draws == test.origin.draws);
    CHECK(again.mode == test.mode);
    CHECK(again.transform_seed == test.transform_seed);
    CHECK(again.oracle_seed == test.oracle_seed);
  }
}

TEST_CASE("edited choices make a legal case or none") {
  Builder builder;
  Generator generator(4, builder);
  Random random(1);
  int made = 0, refused = 0;
  for (uint64_t i = 0; i < 40000; i += 53) {
    const Case test = generator.make(i);
    Origin origin = test.origin;
    for (int edit = 0; edit < 8; ++edit) {
      origin.draws = edited(origin.draws, test.origin.stretches, random);
      INFO("case 4:" << i << ", edit " << edit);
      try {
        const Case other = generator.remake(test, origin);
        ++made;
        if (other.sequence) continue;
        REQUIRE_NOTHROW(verify(other.graph));
        REQUIRE(other.inputs.size() == other.graph.params.size());
        int64_t elements = 0;
        for (const Array& input : other.inputs) elements += input.count();
        REQUIRE(elements <= 1 << 20);
      } catch (const Error& error) {
        REQUIRE(error.kind() == ErrorKind::kInvalid);
        ++refused;
      }
    }
  }
  CHECK(made > 5000);
  CHECK(refused * 20 < made);
}

TEST_CASE("zeros alone make the simplest case") {
  Builder builder;
  Generator generator(6, builder);
  for (uint64_t i = 0; i < 20000; i += 97) {
    const Case test = generator.make(i);
    if (test.sequence || test.refusal) continue;
    INFO("case 6:" << i << " " << test.cell.op);
    Origin origin = test.origin;
    origin.draws.clear();
    const Case simple = generator.remake(test, origin);
    CHECK(topological(simple.graph.outputs).size() <= 8);
    const auto recipe = TemplateSpec::unpack(origin.recipe);
    if (recipe.flags == 0 && test.cell.op == "graph") {
      CHECK(topological(simple.graph.outputs).size() <= 4);
      CHECK(product(simple.graph.outputs[0]->shape).max() == 1);
    }
  }
}

TEST_CASE("a recipe that is none is refused") {
  Builder builder;
  Generator generator(1, builder);
  const Case test = generator.make(0);
  for (const TemplateSpec recipe :
       {TemplateSpec{Layer::kCell, 1u << 30}, TemplateSpec{Layer::kGraph, 1u << 30},
        TemplateSpec{Layer::kCheck, 1u << 30}, TemplateSpec{static_cast<Layer>(9), 0}}) {
    Origin origin = test.origin;
    origin.recipe = recipe.pack();
    CHECK_THROWS_AS(generator.remake(test, origin), Error);
  }
}
