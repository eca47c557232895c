// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models as people write them, the graphs that they become, and the errors they get.
#include "core/ir/text/model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"

namespace tenon {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

std::string model_error(const std::string& text) {
  Builder b;
  try {
    parse_model(text, b, "m.tn");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kInvalid);
    return error.what();
  }
  return "no error";
}

const std::string kScale =
    "module scale[i](%x: f32[n, i]) where 1 <= n <= 8 {\n"
    "  parameters %w: f32[1, i] = uniform(sqrt(6 / (i + 2)) - 1 * 0)\n"
    "  %e = expand %w : [n, i]\n"
    "  %y = mul %x, %e\n"
    "  return %y\n"
    "}\n";
const std::string kTwice =
    "module twice[i](%x: f32[m, i]) where 1 <= m <= 100 {\n"
    "  parameters %b: f32[] = constant(-2.5)\n"
    "  %a = use scale[i] %x, name=first\n"
    "  %s = use scale[i] %a\n"
    "  %r = reshape %b : [1, 1]\n"
    "  %e = expand %r : [m, i]\n"
    "  %y = add %s, %e\n"
    "  return %y, %a\n"
    "}\n";
const std::string kMain =
    "main two(%x: f32[n, 4]) where 1 <= n <= 8 {\n"
    "  %y = use twice[2*2] %x, name=blocks.0\n"
    "  %a = use twice[2*2] %x, name=blocks.0, result=1\n"
    "  %z = use twice[4] %y, name=blocks.1\n"
    "  %s = add %z, %a\n"
    "  return out=%s\n"
    "}\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("uses of modules become calls, and parameters become params named by their path") {
  Builder b;
  const Model model = parse_model(kScale + kTwice + kMain, b);
  std::vector<std::string> names;
  for (const NodeRef& p : model.graph.params) names.push_back(p->as<ParamAttr>().name);
  CHECK(names == std::vector<std::string>{"x", "blocks.0.b", "blocks.0.first.w", "blocks.0.scale.w",
                                          "blocks.1.b", "blocks.1.first.w", "blocks.1.scale.w"});
  REQUIRE(model.parameters.size() == 6);
  CHECK(model.parameters[0].name == "blocks.0.b");
  CHECK(model.parameters[0].shape.empty());
  CHECK(model.parameters[0].initial.kind == Initialiser::Kind::kConstant);
  CHECK(model.parameters[0].initial.number == -2.5);
  CHECK(model.parameters[5].shape == std::vector<int64_t>{1, 4});
  CHECK(model.parameters[5].initial.kind == Initialiser::Kind::kUniform);
  CHECK(model.parameters[5].initial.number == 1);
  CHECK_FALSE(model.loss);

  // Printed as a graph with each module once.
  const std::string text = print(model.graph);
  CHECK_THAT(text, ContainsSubstring("  graph twice(%x: f32[n, 4], %b: f32[], %first.w: f32[1, 4], "
                                     "%scale.w: f32[1, 4]) {\n"
                                     "    graph scale(%x: f32[n, 4], %w: f32[1, 4]) {\n"));
  CHECK(text.find("graph twice") == text.rfind("graph twice"));
  Builder fresh;
  const Graph again = parse_graph(text, fresh);
  CHECK(print(again) == text);
  CHECK(same_structure(again, model.graph));
  // The same entrance reads both.
  CHECK(same_structure(parse_graph(kScale + kTwice + kMain, fresh), model.graph));
}

TEST_CASE("symbols of main may be given as numbers") {
  Builder b;
  const Model model = parse_model(kScale + kTwice + kMain, b, "m.tn", {{"n", 5}});
  CHECK(model.graph.symbols.empty());
  CHECK(type_string(*model.graph.outputs[0]) == "f32[5, 4]");
  try {
    parse_model(kScale + kTwice + kMain, b, "m.tn", {{"n", 9}});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("expected n in [1, 8], got 9"));
  }
}

TEST_CASE("a loss takes outputs and inputs of main and what else it names") {
  const std::string text = kScale +
                           "main m(%x: f32[n, 4]) where 1 <= n <= 8 {\n"
                           "  %y = use scale[4] %x\n"
                           "  return out=%y\n"
                           "}\n"
                           "loss(%x: f32[n, 4], %out: f32[n, 4], %t: i64[n]) where 0 <= %t <= 3 {\n"
                           "  %d = sub %out, %x\n"
                           "  %s = reduce.add %d, axes=[0, 1]\n"
                           "  %r = reshape %t : [n, 1]\n"
                           "  %f = cast %r : f32\n"
                           "  %q = reduce.add %f, axes=[0]\n"
                           "  return %s, labels=%q\n"
                           "}\n";
  Builder b;
  const Model model = parse_model(text, b);
  REQUIRE(model.loss);
  std::string params;
  for (const NodeRef& p : model.loss->params) params += p->as<ParamAttr>().name + " ";
  CHECK(params == "x t scale.w ");
  CHECK(model.loss->output_names == std::vector<std::string>{"s", "labels"});
  REQUIRE(model.bounds.size() == 1);
  CHECK(model.bounds[0].name == "t");
  CHECK(model.bounds[0].high == 3);

  const auto broken = [&](const std::string& from, const std::string& to) {
    return model_error(replaced(text, from, to));
  };
  CHECK_THAT(broken("return %s", "return %d"),
             StartsWith("m.tn:11:1: expected outputs of a loss to be floats of one element, got "
                        "f32[n, 4]"));
  CHECK_THAT(broken("labels=%q", "s=%q"), StartsWith("m.tn:11:1: expected outputs of a loss to "
                                                     "have names of their own"));
  CHECK_THAT(broken("%out: f32[n, 4]", "%out: f32[4]"),
             ContainsSubstring("expected sub, got") || ContainsSubstring("[sub]"));
  CHECK_THAT(broken("%t: i64[n])", "%scale.w: f32[1, 4], %t: i64[n])"),
             ContainsSubstring("got the parameter \"scale.w\""));
  CHECK_THAT(broken("%t: i64[n])", "%t: i64[k])"), ContainsSubstring("expected a symbol"));
  CHECK_THAT(broken("where 0 <= %t", "where 1 <= k <= 2, 0 <= %t"),
             ContainsSubstring("expected the symbols of main, with their bounds, got 1 <= k <= 2"));
  CHECK_THAT(broken("0 <= %t <= 3", "0 <= %u <= 3"),
             ContainsSubstring("expected a value defined above, got \"%u\""));
  CHECK_THAT(broken("%out, %x", "%x, %x"),
             StartsWith("m.tn:11:1: expected a use of each parameter, got none of \"scale.w\""));
  CHECK_THAT(broken("%d = sub", "%v = use scale[4] %x\n  %d = sub"),
             StartsWith("m.tn:11:1: expected a loss without parameters, got \"scale.w\""));
  CHECK_THAT(model_error(text + text),
             StartsWith("m.tn:19:1: expected the end of the text after the loss, got \"module\""));
}

TEST_CASE("errors of models name file, line and column") {
  const std::string text = kScale + kTwice + kMain;
  const auto broken = [&](const std::string& from, const std::string& to) {
    return model_error(replaced(text, from, to));
  };
  // Of parameters.
  CHECK_THAT(broken("f32[1, i]", "i32[1, i]"),
             StartsWith("m.tn:2:18: expected a parameter of f16, bf16, f32 or f64, got i32, as "
                        "scale is used in line 9, as twice is used in line 17"));
  CHECK_THAT(broken("%w: f32[1, i]", "%w: f32[n, i]"), StartsWith("m.tn:2:18: expected a parameter "
                                                                  "of a shape of numbers"));
  CHECK_THAT(broken("f32[1, i]", "f32[-1, i]"), StartsWith("m.tn:2:18: expected a parameter"));
  CHECK_THAT(broken("f32[1, i]", "f32[1099511627776, i]"),
             StartsWith("m.tn:2:18: expected a parameter"));
  CHECK_THAT(broken("uniform", "uniformly"),
             StartsWith("m.tn:2:30: expected zeros, ones, constant(..), uniform(..) or normal(..), "
                        "got \"uniformly\""));
  CHECK_THAT(broken("(i + 2)", "(i - 4)"), StartsWith("m.tn:2:38: expected a finite number"));
  CHECK_THAT(broken("sqrt(6", "sqrt(n"), StartsWith("m.tn:2:43: expected a number, a size, sqrt"));
  CHECK_THAT(broken("sqrt(6 / (i + 2))", "-1"), StartsWith("m.tn:2:38: expected a number of 0"));
  CHECK_THAT(broken("sqrt(6", "sqrt" + std::string(80, '(')), ContainsSubstring("64 nested"));
  CHECK_THAT(broken("mul %x, %e", "mul %x, %x"),
             StartsWith("m.tn:1:8: expected a use of each parameter, got none of \"w\""));
  // Of modules and their uses.
  CHECK_THAT(broken("scale[i] %x", "twice[i] %x"),
             StartsWith("m.tn:9:12: expected a module defined above, got \"twice\""));
  CHECK_THAT(broken("scale[i] %x", "nothing[i] %x"),
             StartsWith("m.tn:9:12: expected a module defined above, got \"nothing\""));
  CHECK_THAT(broken("scale[i] %x, name=first", "scale[i] %x"),
             StartsWith("m.tn:10:12: expected another name than scale, got it for two uses"));
  CHECK_THAT(broken("twice[4] %y, name=blocks.1", "twice[4] %y, name=blocks.0"),
             StartsWith("m.tn:19:12: expected another name than blocks.0"));
  CHECK_THAT(broken("twice[2*2]", "twice[2, 2]"),
             StartsWith("m.tn:17:17: expected 1 sizes of twice, got 2"));
  CHECK_THAT(broken("twice[2*2]", "twice[-4]"),
             StartsWith("m.tn:17:18: expected a number from 0 to 1099511627776 as the size"));
  CHECK_THAT(broken("twice[2*2]", "twice[n]"), StartsWith("m.tn:17:18: expected a number from 0"));
  CHECK_THAT(broken("twice[2*2]", "twice[9999999999999]"),
             StartsWith("m.tn:17:18: expected a number from 0"));
  CHECK_THAT(broken("twice[2*2] %x,", "twice[5] %x,"),
             StartsWith("m.tn:17:12: expected f32[n, 5] for \"x\" of twice, got f32[n, 4]"));
  CHECK_THAT(broken("twice[2*2] %x,", "twice[4] %x, %x,"),
             StartsWith("m.tn:17:12: expected 1 operands of twice, got 2"));
  CHECK_THAT(broken("result=1", "result=2"),
             StartsWith("m.tn:18:40: expected a result below 2, got 2"));
  CHECK_THAT(broken("1 <= m <= 100", "1 <= m <= 7"),
             StartsWith("m.tn:7:16: expected m in [1, 7], got n, as twice is used in line 17"));
  CHECK_THAT(broken("1 <= m <= 100", "1 <= m <= 100, 1 <= k <= 2"),
             StartsWith("m.tn:7:16: expected a param with a dimension k alone"));
  CHECK_THAT(broken("1 <= m <= 100", "1 <= m <= 100, 1 <= i <= 2"),
             StartsWith("m.tn:7:16: expected sizes and symbols of different names, got i twice"));
  CHECK_THAT(broken("1 <= m <= 100", "0 <= %x <= 1"), StartsWith("m.tn:7:43: expected a symbol"));
  CHECK_THAT(broken("module twice", "module scale"),
             StartsWith("m.tn:7:8: expected each module once, got scale twice"));
  CHECK_THAT(broken("twice[i](", "twice[i, i]("), StartsWith("m.tn:7:17: expected a symbol name"));
  // Of main.
  CHECK_THAT(broken("  return out=%s\n}\n", "  return out=%s\n"), StartsWith("m.tn:22:1: "));
  CHECK_THAT(model_error(text + kMain),
             StartsWith("m.tn:23:1: expected loss, or the end of the text "
                        "after main, got \"main\""));
  CHECK_THAT(model_error(kScale), StartsWith("m.tn:7:1: expected 'main', got the end of the text"));
  CHECK_THAT(broken("main two(%x: f32[n, 4])", "main two(%x: f32[n, 4], %y \"x\": f32[2])"),
             ContainsSubstring("expected inputs and parameters of different names, got \"x\""));
  CHECK_THAT(broken("two(%x: f32[n, 4])", "two(%x: f32[n, 4], %blocks.0.b: f32[])"),
             ContainsSubstring("different names, got \"blocks.0.b\" twice"));
  CHECK_THAT(broken("  %s = add %z, %a\n", "  %s = add %y, %a\n"),
             StartsWith("m.tn:16:1: expected a use of each parameter, got none of \"blocks.1.b\""));
  CHECK_THAT(broken("1 <= n <= 8 {\n  %y", "1 <= n <= 8, 0 <= %z <= 4 {\n  %y"),
             ContainsSubstring("expected bounds of an input"));
}

/// Modules of which each uses the one before so many times, with other sizes where `differ`.
std::string chain(int modules, int uses, bool differ, bool learns) {
  std::string text = "module m0[i](%x: f32[2]) {";
  text += learns ? "parameters %w: f32[2] = ones %y = mul %x, %w" : "%y = neg %x";
  text += "\nreturn %y }\n";
  for (int k = 1; k < modules; ++k) {
    text += fmt::format("module m{}[i](%x: f32[2]) {{\n", k);
    std::string before = "x";
    for (int u = 0; u < uses; ++u) {
      const std::string size = differ ? fmt::format("{} * i + {}", uses, u) : "0";
      text += fmt::format("%y{} = use m{}[{}] %{}, name=u{}\n", u, k - 1, size, before, u);
      before = fmt::format("y{}", u);
    }
    text += fmt::format("return %{} }}\n", before);
  }
  return text + fmt::format("main m(%x: f32[2]) {{ %y = use m{}[1] %x return %y }}\n", modules - 1);
}

TEST_CASE("limits of models hold against hostile text") {
  CHECK(model_error(chain(15, 1, false, true)) == "no error");
  CHECK_THAT(model_error(chain(16, 1, false, true)),
             ContainsSubstring("at most 16 graphs in each other"));
  CHECK_THAT(model_error(chain(50'000, 1, false, true)), ContainsSubstring("at most 16 graphs"));
  CHECK_THAT(model_error(chain(14, 2, false, true)), ContainsSubstring("at most 4096 parameters"));
  CHECK_THAT(model_error(chain(14, 3, true, false)), ContainsSubstring("at most 1048576 bytes"));
  std::string long_names =
      replaced(kScale + kTwice + kMain, "name=blocks.1", "name=" + std::string(250, 'a'));
  CHECK_THAT(model_error(long_names), ContainsSubstring("expected a name of at most 256 bytes"));
}

TEST_CASE("the model among the examples is one") {
  Builder b;
  const std::string path = TENON_SOURCE_DIR "/examples/digits.tn";
  const Model model = parse_model(read_file(path), b, path);
  CHECK(model.parameters.size() == 4);
  CHECK(model.parameters[2].name == "fc2.weight");
  CHECK(model.loss.has_value());
}

}  // namespace
}  // namespace tenon
