// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whatever can be built prints, reads back as the same structure, and prints the same again.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"
#include "tests/ir/random_graph.hpp"
#include "tests/mutated.hpp"

namespace tenon {
namespace {

TEST_CASE("random graphs round trip") {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Builder b;
    const Graph graph = random_graph(b, seed);
    const std::string text = print(graph);
    INFO("seed " << seed << "\n" << text);
    REQUIRE_NOTHROW(verify(graph));
    Builder fresh;
    Graph again;
    REQUIRE_NOTHROW(again = parse_graph(text, fresh, "printed"));
    REQUIRE(print(again) == text);
    REQUIRE(same_structure(graph, again));
    REQUIRE(structure_hash(graph) == structure_hash(again));
    REQUIRE(again.output_names == graph.output_names);
    REQUIRE(again.name == graph.name);
    for (size_t i = 0; i < graph.params.size(); ++i)
      REQUIRE(again.params[i]->as<ParamAttr>().name == graph.params[i]->as<ParamAttr>().name);
  }
}

std::vector<std::string> corpus() {
  std::vector<std::string> texts = {
      "module scale[i](%x: f32[n, i]) where 1 <= n <= 8 {\n"
      "  parameters %w: f32[1, i] = uniform(sqrt(6 / (i + 2)))\n"
      "  %e = expand %w : [n, i] %y = mul %x, %e return %y\n}\n"
      "module twice[i](%x: f32[m, i]) where 1 <= m <= 100 {\n"
      "  %a = use scale[i] %x, name=first %y = use scale[i + 0] %a return %y, %a\n}\n"
      "main two(%x: f32[n, 4]) where 1 <= n <= 8 {\n"
      "  %y = use twice[2*2] %x, name=blocks.0, result=1 return out=%y\n}\n"
      "loss(%out: f32[n, 4], %t: i64[n, 4]) where 0 <= %t <= 3 {\n"
      "  %f = cast %t : f32 %d = mul %out, %f %s = reduce.add %d, axes=[0,1] return %s\n}\n"};
  for (int times = 0; times < 3; ++times) texts.push_back(texts.front());
  for (const auto& file :
       std::filesystem::directory_iterator(TENON_SOURCE_DIR "/tests/golden/in")) {
    if (file.path().extension() != ".tn" || file.file_size() > 4000) continue;
    std::ifstream in(file.path());
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  Builder b;
  for (uint64_t seed = 1000; seed < 1040; ++seed) texts.push_back(print(random_graph(b, seed, 8)));
  return texts;
}

const std::vector<std::string> kPieces = {"%",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          ":",
                                          "//",
                                          "\"",
                                          "\\x",
                                          "-",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "graph",
                                          "where",
                                          "<=",
                                          "1e999999",
                                          "nan(",
                                          "min(",
                                          "%0",
                                          "0",
                                          "*",
                                          "\n",
                                          "#",
                                          "f32[",
                                          "if ",
                                          "loop ",
                                          "const ",
                                          "=",
                                          "99999999999999999999",
                                          "==",
                                          "&&",
                                          "%n",
                                          "use scale[4] %x",
                                          ", name=",
                                          "parameters ",
                                          "sqrt("};

TEST_CASE("malformed text gives an error with a place, and never more") {
  const char* wanted = std::getenv("TENON_MUTATIONS");
  const long count = wanted ? std::atol(wanted) : 20000;
  const std::vector<std::string> texts = corpus();
  REQUIRE(texts.size() > 40);
  std::mt19937_64 random(17);
  long accepted = 0, rejected = 0;
  for (long i = 0; i < count; ++i) {
    const std::string text = test::mutated(texts[random() % texts.size()], texts, kPieces, random);
    Builder b;
    try {
      const Graph graph = parse_graph(text, b, "mutant.tn");
      ++accepted;
      Builder fresh;
      const std::string printed = print(graph);
      REQUIRE(print(parse_graph(printed, fresh, "printed")) == printed);
    } catch (const Error& error) {
      ++rejected;
      const std::string message = error.what();
      INFO(message << "\n" << text);
      REQUIRE(error.kind() == ErrorKind::kInvalid);
      REQUIRE(message.starts_with("mutant.tn:"));
      REQUIRE(message.find("expected") != std::string::npos);
      REQUIRE(message.find("got") != std::string::npos);
    }
  }
  CHECK(accepted > count / 100);
  CHECK(rejected > count / 4);
}

}  // namespace
}  // namespace tenon
