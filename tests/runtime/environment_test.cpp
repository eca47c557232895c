// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts made from the environment: what is offered when nothing is chosen, and wrong values.
#include "core/plugin/environment.hpp"

#include <catch2/catch_test_macros.hpp>

#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Sets variables for a scope; the test program has one thread then.
struct Variables {
  std::vector<std::string> names;
  Variables(std::initializer_list<std::pair<const char*, std::string>> values) {
    for (const EnvironmentVariable& v : environment_variables())
      unsetenv(std::string(v.name).c_str());
    for (const auto& [name, value] : values) setenv(name, value.c_str(), 1);
  }
  ~Variables() {
    for (const EnvironmentVariable& v : environment_variables())
      unsetenv(std::string(v.name).c_str());
  }
};

std::string ids(const Runtime& runtime) {
  std::string text;
  for (const std::string& id : runtime.device_ids()) text += id + " ";
  return text;
}

}  // namespace

TEST_CASE("unset: what passes its self-test, by kind, priority and name; crashes are left out") {
  TempFolder cache;
  const std::string files = plugin_file("null").string() + ":" + plugin_file("aborts").string() +
                            ":" + plugin_file("fake").string();
  const Variables variables{{"TENON_PLUGINS", files}, {"TENON_CACHE_DIR", cache.path.string()}};
  for (int again = 0; again < 2; ++again) {  // probed, then remembered
    Runtime runtime;
    CHECK(ids(runtime) == "fake:1 fake:0 null:0 ");  // gpu, cpu; fake:2 adds wrongly
    CHECK(runtime.devices().size() == 1);            // the default; others when they are named
    CHECK(runtime.device("null").id() == "null:0");
    CHECK(runtime.devices().size() == 2);
    CHECK(&runtime.device("null:0") == runtime.devices()[1].get());
    CHECK(ids(runtime) == "fake:1 null:0 fake:0 ");
    CHECK(has(error_of([&] { runtime.device("fake:2"); }),
              "[device] expected one of fake:1, null:0, fake:0, got 'fake:2'"));
  }
}

TEST_CASE("only negative terms imply all others") {
  TempFolder cache;
  const std::string files = plugin_file("null").string() + ":" + plugin_file("fake").string();
  const Variables variables{{"TENON_PLUGINS", files},
                            {"TENON_CACHE_DIR", cache.path.string()},
                            {"TENON_DEVICES", "-null,-fake:gpu"}};
  CHECK(ids(Runtime()) == "fake:0 ");
}

TEST_CASE("storage is on offer and never the default") {
  if (!fs::exists(plugin_file("disk"))) return;
  TempFolder folder;
  const std::string files = plugin_file("disk").string() + ":" + plugin_file("null").string();
  const Variables variables{{"TENON_PLUGINS", files}, {"TENON_CACHE_DIR", folder.path.string()}};
  Runtime runtime;
  CHECK(ids(runtime) == "null:0 disk:0 ");
  write_file(folder.path / "a+b.bin", "contents");
  Device& file = runtime.device("disk:" + (folder.path / "a%2Bb.bin").string());
  CHECK(file.id() == "disk:" + (folder.path / "a%2Bb.bin").string());
  CHECK(&runtime.device(file.id()) == &file);
  CHECK(has(error_of([&] { runtime.device("disk:/none/x"); }), "/none/x: expected a file"));
  CHECK(has(error_of([&] { runtime.device("null:/none/x"); }), "option path"));
}

TEST_CASE("wrong values name the variable") {
  TempFolder cache;
  const std::string fake = plugin_file("fake").string(), folder = cache.path.string();
  const auto message = [](std::initializer_list<std::pair<const char*, std::string>> values) {
    const Variables variables(values);
    return error_of([] { Runtime runtime; });
  };
  CHECK(has(message({{"TENON_PLUGINS", fake}, {"TENON_CACHE_DIR", folder}, {"TENON_DEVICES", ""}}),
            "[TENON_DEVICES] expected a selector, got ''; there is: fake:0"));
  CHECK(has(message({{"TENON_PLUGINS", fake}, {"TENON_CACHE_DIR", folder}, {"TENON_DEVICES", "x"}}),
            "[TENON_DEVICES] term 'x': there is no backend 'x'; there is: fake:0"));
  CHECK(has(message({{"TENON_PLUGINS", "/none"}}), "[TENON_PLUGINS] expected a plugin file"));
  CHECK(has(message({{"TENON_PLUGIN_PATH", "/none"}}), "[TENON_PLUGIN_PATH] expected a folder"));
  CHECK(has(message({{"TENON_VALIDATE", "true"}}), "[TENON_VALIDATE] expected 0 or 1, got 'true'"));
  CHECK(has(message({{"TENON_CACHE_DIR", "cache"}}), "[TENON_CACHE_DIR] expected an absolute"));
  CHECK(has(message({{"TENON_LOG", "everything"}}), "[TENON_LOG] expected channels out of all,"));
  CHECK(
      has(message({{"TENON_PLUGINS", plugin_file("aborts").string()}, {"TENON_CACHE_DIR", folder}}),
          "[TENON_DEVICES] expected at least one device that passes its probe; there is: aborts "
          "without devices: ended by SIGABRT"));
}

TEST_CASE(
    "what a context allows of contractions is in the schedule, but not over what a graph says") {
  TempFolder cache;
  const Variables variables{{"TENON_PLUGINS", plugin_file("null").string()},
                            {"TENON_CACHE_DIR", cache.path.string()},
                            {"TENON_MATMUL", "tf32"}};
  const auto schedule_of = [](Runtime& runtime, const std::string& said) {
    const Graph graph = parse_graph(
        "graph g(%a: f32[4, 8], %b: f32[4, 8]) {\n%p = mul %a, %b : f32[4, 8]\n"
        "%s = reduce.add %p, axes=[1]" +
            said +
            " : f32[4, 1]\n%t = reduce.add %a, axes=[1]\n"
            "return %s, %t }",
        runtime.builder());
    return print(runtime.schedule_for(graph));
  };
  Runtime asked;
  const std::string text = schedule_of(asked, "");
  CHECK(has(text, ", axes=[1], matmul=tf32"));
  CHECK(text.find("matmul=") == text.rfind("matmul="));  // the sum of no products is exact
  CHECK(has(schedule_of(asked, ", matmul=exact"), "matmul=exact"));
  CHECK(!has(schedule_of(asked, ", matmul=exact"), "tf32"));
  RuntimeOptions exact;
  exact.matmul = Precision::kExact;
  Runtime sure(exact);
  CHECK(has(schedule_of(sure, ""), "matmul=exact"));
  CHECK(has(schedule_of(sure, ", matmul=bf16"), "matmul=bf16"));
  const Variables wrong{{"TENON_MATMUL", "double"}};
  CHECK(has(error_of([] { Runtime runtime; }), "[TENON_MATMUL] expected exact, tf32 or bf16"));
}
