// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs have tried, and how much of it what is generated reaches.
#include <catch2/catch_test_macros.hpp>

#include <map>
#include <set>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/program_links.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/plan.hpp"
#include "conformance/cases/reach.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

std::set<std::string> names_of_links(const std::string& text, int64_t flags = 0) {
  std::set<std::string> out;
  for (const uint32_t link : links_of({"program", {1, 1, 1, 1, flags}, text}))
    out.insert(link_name(link));
  return out;
}

using Reached = std::map<LinkKind, std::set<uint32_t>>;

void add_links(const std::vector<SequenceStep>& steps, Reached& reached) {
  for (const SequenceStep& step : steps)
    for (const uint32_t link : links_of(step)) reached[link_kind(link)].insert(link);
}

}  // namespace

TEST_CASE("links have names of their own") {
  std::set<std::string> names;
  for (uint32_t link = 0; link < link_count(); ++link) names.insert(link_name(link));
  CHECK(names.size() == link_count());
  CHECK(reach_size() == first_link() + link_count());
  CHECK(reach_name(first_link()) == link_name(0));
}

TEST_CASE("the links of a program are its edges, its places, its lanes and its order") {
  const char* text =
      "program p(%out: global i32 write, %in: global i32 read) workgroup 1 1 1 {\n"
      "  %i = index grid.x : i32\n"
      "  %x = load %in, %i : i32\n"
      "  %s = sub %x, %i : i32\n"
      "  %c = cmplt %s, %x : bool\n"
      "  if %c {\n"
      "    %m = max %s, %s : i32\n"
      "    store %out, %i, %m\n"
      "  }\n"
      "}\n";
  const std::set<std::string> plain = names_of_links(text);
  for (const char* name :
       {"index -> load.index i32", "load -> sub.0 i32", "index -> sub.1 i32", "sub -> cmplt.0 i32",
        "load -> cmplt.1 i32", "cmplt -> if bool", "sub -> max.1 i32", "max -> store.value i32",
        "index -> store.index i32", "max i32 in then", "store i32 in then",
        "load global then store global"}) {
    INFO(name);
    CHECK(plain.contains(name));
  }
  CHECK_FALSE(plain.contains("load -> max.0 i32"));
  CHECK_FALSE(plain.contains("sub i32 in then"));
  CHECK_FALSE(plain.contains("sub i32 again"));
  CHECK(names_of_links(text, kAgain).contains("sub i32 again"));
}

TEST_CASE("patterns reach every kind of link, and far more than programs did without products") {
  Reached with, without;
  Builder builder;
  Generator generator(3, builder);
  for (uint64_t index = 0; index < 5000; ++index) {
    const Plan plan = plan_case(3, index);
    if (plan.spec.layer != Layer::kPattern && plan.spec.layer != Layer::kSequence) continue;
    const Case test = generator.make(index);
    add_links(test.sequence->steps, with);
    const bool is_walk = test.cell.op == "api.products" || test.cell.op == "api.orders";
    if (!is_walk) add_links(test.sequence->steps, without);
  }
  std::map<LinkKind, size_t> all;
  for (uint32_t link = 0; link < link_count(); ++link) ++all[link_kind(link)];
  const std::map<LinkKind, std::pair<double, double>> expected = {{LinkKind::kFeeds, {0.2, 0.5}},
                                                                  {LinkKind::kLanes, {0.4, 0.8}},
                                                                  {LinkKind::kPlace, {0.3, 0.9}},
                                                                  {LinkKind::kLaunch, {0.5, 0.9}},
                                                                  {LinkKind::kOrder, {0.25, 0.9}}};
  for (const LinkKind kind : kLinkKinds) {
    INFO(link_kind_name(kind) << ": " << without[kind].size() << " without and "
                              << with[kind].size() << " with products, of " << all[kind]);
    const auto share = [&](const Reached& reached) {
      return static_cast<double>(reached.at(kind).size()) / static_cast<double>(all[kind]);
    };
    CHECK(share(without) <= expected.at(kind).first);
    CHECK(share(with) >= expected.at(kind).second);
  }
}

TEST_CASE("a few rounds of products and orders come to nearly all links that they can hold") {
  Reached reached;
  for (uint64_t round = 0; round < 40; ++round)
    for (size_t number = 0; number < all_patterns().size(); ++number) {
      const Pattern& pattern = all_patterns()[number];
      if (pattern.family != "products" && pattern.family != "orders") continue;
      Choices choices(round * 10'007 + number);
      add_links(pattern.draw(choices).steps, reached);
    }
  std::map<LinkKind, size_t> all;
  std::map<LinkKind, std::string> missing;
  for (uint32_t link = 0; link < link_count(); ++link) {
    ++all[link_kind(link)];
    if (!reached[link_kind(link)].contains(link))
      missing[link_kind(link)] += "\n  " + link_name(link);
  }
  for (const LinkKind kind : kLinkKinds) {
    INFO(link_kind_name(kind) << ": " << reached[kind].size() << " of " << all[kind]
                              << missing[kind]);
    const double least = kind == LinkKind::kFeeds ? 0.93 : 0.96;
    CHECK(static_cast<double>(reached[kind].size()) >= least * static_cast<double>(all[kind]));
  }
}
