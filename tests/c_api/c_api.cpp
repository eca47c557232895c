// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: values, errors, structs of other ages, lifetimes, threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cfenv>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tenon/tenon.h"

using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kLine = R"(
graph line(%x: f32[n], %w: f32[1]) where 1 <= n <= 100 {
  %v = expand %w : f32[n]
  %p = mul %v, %x
  %s = reduce.add %p, axes=[0]
  return %p, %s
}
)";

struct Api {
  tenon_context* context = nullptr;
  tenon_graph* line = nullptr;
  explicit Api(const char* devices = "cpu") {
    tenon_context_options options{};
    options.size = sizeof options;
    options.devices = devices;
    REQUIRE(tenon_context_create(&options, &context) == TENON_OK);
    REQUIRE(tenon_graph_parse(context, kLine, "line.tn", &line) == TENON_OK);
  }
  ~Api() {
    tenon_graph_destroy(line);
    tenon_context_destroy(context);
  }
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  tenon_tensor* floats(const std::vector<float>& values) const {
    const int64_t count = static_cast<int64_t>(values.size());
    tenon_tensor* out = nullptr;
    REQUIRE(tenon_tensor_create(context, TENON_F32, 1, &count, values.data(),
                                values.size() * sizeof(float), &out) == TENON_OK);
    return out;
  }
};

std::vector<float> values_of(const tenon_tensor* tensor) {
  tenon_type type{};
  type.size = sizeof type;
  REQUIRE(tenon_tensor_type(tensor, &type) == TENON_OK);
  std::vector<float> out(type.bytes / sizeof(float));
  REQUIRE(tenon_tensor_read(tensor, out.data(), type.bytes) == TENON_OK);
  return out;
}

/// The status, and the message by tenon_last_error.
void check_refused(tenon_status status, tenon_status expected, const std::string& words) {
  CHECK(status == expected);
  CHECK_THAT(tenon_last_error(), ContainsSubstring(words));
}

}  // namespace

TEST_CASE("a graph is run for several sizes of its symbol") {
  const Api api;
  tenon_tensor* const w = api.floats({2});
  for (const size_t n : {size_t{3}, size_t{1}, size_t{100}}) {
    tenon_tensor* const x = api.floats(std::vector<float>(n, 1.5F));
    std::array inputs{x, w};
    std::array<tenon_tensor*, 2> outputs{};
    REQUIRE(tenon_graph_compile(api.line, inputs.data(), 2, nullptr) == TENON_OK);
    REQUIRE(tenon_graph_run(api.line, inputs.data(), 2, nullptr, outputs.data(), 2) == TENON_OK);
    CHECK(values_of(outputs[0]) == std::vector<float>(n, 3.0F));
    CHECK(values_of(outputs[1]) == std::vector<float>{3.0F * static_cast<float>(n)});
    for (tenon_tensor* one : {x, outputs[0], outputs[1]}) tenon_tensor_destroy(one);
  }
  tenon_tensor_destroy(w);
}

TEST_CASE("a graph says its text, inputs and outputs") {
  const Api api;
  uint64_t inputs = 0, outputs = 0, length = 0;
  REQUIRE(tenon_graph_counts(api.line, &inputs, &outputs) == TENON_OK);
  CHECK(inputs == 2);
  CHECK(outputs == 2);
  tenon_type type{};
  type.size = sizeof type;
  const char* name = nullptr;
  REQUIRE(tenon_graph_input(api.line, 0, &type, &name) == TENON_OK);
  CHECK(std::string(name) == "x");
  CHECK(type.dtype == TENON_F32);
  CHECK(type.rank == 1);
  CHECK(type.shape[0] == -1);
  CHECK(type.bytes == 0);
  REQUIRE(tenon_graph_output(api.line, 1, &type, &name) == TENON_OK);
  CHECK(std::string(name) == "s");
  CHECK(type.shape[0] == 1);
  CHECK(type.bytes == 4);
  check_refused(tenon_graph_output(api.line, 2, &type, &name), TENON_ERROR_INVALID,
                "expected a number below 2, got 2");
  REQUIRE(tenon_graph_text(api.line, nullptr, 0, &length) == TENON_OK);
  std::string text(length + 1, 'x');
  REQUIRE(tenon_graph_text(api.line, text.data(), text.size(), nullptr) == TENON_OK);
  text.resize(length);
  CHECK_THAT(text, ContainsSubstring("graph line(%x: f32[n], %w: f32[1])"));
  char part[6];
  REQUIRE(tenon_graph_text(api.line, part, sizeof part, &length) == TENON_OK);
  CHECK(std::string(part) == "graph");
  tenon_graph* again = nullptr;
  REQUIRE(tenon_graph_parse(api.context, text.c_str(), nullptr, &again) == TENON_OK);
  tenon_graph_destroy(again);
}

TEST_CASE("the gradient of a graph has a seed where the output has several elements") {
  const Api api;
  const char* by = "w";
  tenon_graph* slope = nullptr;
  REQUIRE(tenon_graph_gradient(api.line, nullptr, &by, 1, &slope) == TENON_OK);
  uint64_t inputs = 0;
  REQUIRE(tenon_graph_counts(slope, &inputs, nullptr) == TENON_OK);
  CHECK(inputs == 3);
  tenon_graph_destroy(slope);
  REQUIRE(tenon_graph_gradient(api.line, "s", &by, 1, &slope) == TENON_OK);
  std::array given{api.floats({1, 2, 4}), api.floats({3})};
  std::array<tenon_tensor*, 2> results{};
  REQUIRE(tenon_graph_run(slope, given.data(), 2, nullptr, results.data(), 2) == TENON_OK);
  CHECK(values_of(results[1]) == std::vector<float>{7});
  for (tenon_tensor* one : {given[0], given[1], results[0], results[1]}) tenon_tensor_destroy(one);
  tenon_graph_destroy(slope);
  check_refused(tenon_graph_gradient(api.line, "q", &by, 1, &slope), TENON_ERROR_INVALID, "got q");
}

TEST_CASE("devices are listed, and tensors move between them") {
  const Api api;
  uint64_t count = 0;
  REQUIRE(tenon_device_count(api.context, &count) == TENON_OK);
  REQUIRE(count >= 1);
  char id[256];
  REQUIRE(tenon_device_id(api.context, 0, id, sizeof id) == TENON_OK);
  CHECK(std::string(id) == "cpu:0");
  check_refused(tenon_device_id(api.context, 0, id, 3), TENON_ERROR_INVALID, "room for 6 bytes");
  check_refused(tenon_device_id(api.context, count, id, sizeof id), TENON_ERROR_INVALID, "below");
  tenon_device device{};
  device.size = sizeof device;
  REQUIRE(tenon_device_find(api.context, nullptr, &device) == TENON_OK);
  CHECK(std::string(device.id) == "cpu:0");
  CHECK(device.flags == (TENON_DEVICE_COMPUTE | TENON_DEVICE_OPEN));
  check_refused(tenon_device_find(api.context, "tpu:9", &device), TENON_ERROR_INVALID, "tpu:9");
  tenon_tensor *x = api.floats({1, 2}), *same = nullptr;
  REQUIRE(tenon_tensor_to_device(x, "cpu", &same) == TENON_OK);
  REQUIRE(tenon_tensor_device(same, id, sizeof id) == TENON_OK);
  CHECK(std::string(id) == "cpu:0");
  CHECK(values_of(same) == std::vector<float>{1, 2});
  uint64_t length = 0;
  REQUIRE(tenon_tensor_text(same, id, sizeof id, &length) == TENON_OK);
  CHECK(std::string(id) == "[1. 2.]");
  CHECK(length == 7);
  tenon_tensor_destroy(x);
  tenon_tensor_destroy(same);
}

TEST_CASE("errors have a code and name what was expected and found") {
  const Api api;
  tenon_context* context = nullptr;
  tenon_context_options options{};
  options.size = sizeof options;
  options.devices = "no_such_backend";
  check_refused(tenon_context_create(&options, &context), TENON_ERROR_INVALID, "no_such_backend");
  const char* const nowhere[] = {"/nowhere/libtenon_x.so"};
  options.devices = "x";
  options.plugins = nowhere;
  options.plugin_count = 1;
  check_refused(tenon_context_create(&options, &context), TENON_ERROR_ENVIRONMENT,
                "/nowhere/libtenon_x.so");
  CHECK(context == nullptr);
  tenon_graph* graph = nullptr;
  check_refused(tenon_graph_parse(api.context, "graph x(", "bad.tn", &graph), TENON_ERROR_INVALID,
                "bad.tn:1:9");
  CHECK(graph == nullptr);
  tenon_tensor* out = nullptr;
  const int64_t shape[] = {3};
  const float values[] = {1, 2, 3};
  check_refused(tenon_tensor_create(api.context, TENON_F32, 1, shape, values, 8, &out),
                TENON_ERROR_INVALID, "expected 3 elements of 4 bytes, got 8 bytes");
  check_refused(tenon_tensor_create(api.context, 99, 1, shape, values, 12, &out),
                TENON_ERROR_INVALID, "expected a dtype, got the code 99");
  check_refused(tenon_tensor_create(api.context, TENON_F32, 17, shape, values, 12, &out),
                TENON_ERROR_INVALID, "expected a rank up to 16, got 17");
  const int64_t negative[] = {-3};
  check_refused(tenon_tensor_create(api.context, TENON_F32, 1, negative, values, 12, &out),
                TENON_ERROR_INVALID, "[-3]");
  const int64_t huge[] = {int64_t{1} << 62};
  check_refused(tenon_tensor_create(api.context, TENON_F64, 1, huge, values, 12, &out),
                TENON_ERROR_INVALID, "elements");
  const uint8_t bools[] = {0, 1, 2};
  check_refused(tenon_tensor_create(api.context, TENON_BOOL, 1, shape, bools, 3, &out),
                TENON_ERROR_INVALID, "expected bools as bytes of 0 or 1, got 2 at 2");
  CHECK(out == nullptr);
  check_refused(tenon_graph_parse(api.context, "graph g(%p \"a\\x00b\": f32[1]) {\n return %p\n}",
                                  nullptr, &graph),
                TENON_ERROR_INVALID,
                "expected names without zero bytes, got one in that of input 0");
  CHECK(graph == nullptr);
  tenon_tensor* const x = api.floats({1, 2, 3});
  std::array<tenon_tensor*, 2> inputs{x, x}, outputs{};
  check_refused(tenon_graph_run(api.line, inputs.data(), 2, nullptr, outputs.data(), 2),
                TENON_ERROR_INVALID, "input 1 (w)");
  check_refused(tenon_graph_run(api.line, inputs.data(), 1, nullptr, outputs.data(), 2),
                TENON_ERROR_INVALID, "expected 2 inputs, got 1");
  check_refused(tenon_graph_run(api.line, inputs.data(), 2, nullptr, outputs.data(), 1),
                TENON_ERROR_INVALID, "expected room for 2 outputs, got 1");
  CHECK(outputs[0] == nullptr);
  float read[3];
  check_refused(tenon_tensor_read(x, read, 8), TENON_ERROR_INVALID, "expected room for 12 bytes");
  tenon_run_options run{};
  run.size = sizeof run;
  const tenon_symbol twice[] = {{"n", 3}, {"n", 3}};
  run.symbols = twice;
  run.symbol_count = 2;
  check_refused(tenon_graph_run(api.line, inputs.data(), 2, &run, outputs.data(), 2),
                TENON_ERROR_INVALID, "each symbol once, got n");
  tenon_tensor_destroy(x);
}

TEST_CASE("null where something is needed is refused by the name of the call") {
  const Api api;
  tenon_tensor* const x = api.floats({1});
  tenon_context* context = nullptr;
  tenon_graph* graph = nullptr;
  tenon_tensor* tensor = nullptr;
  uint64_t number = 0;
  char text[8];
  const int64_t one = 1;
  const char* const name = nullptr;
  const std::vector<std::pair<const char*, std::function<tenon_status()>>> calls{
      {"tenon_context_create", [&] { return tenon_context_create(nullptr, nullptr); }},
      {"tenon_device_count", [&] { return tenon_device_count(nullptr, &number); }},
      {"tenon_device_count", [&] { return tenon_device_count(api.context, nullptr); }},
      {"tenon_device_id", [&] { return tenon_device_id(nullptr, 0, text, 8); }},
      {"tenon_device_id", [&] { return tenon_device_id(api.context, 0, nullptr, 8); }},
      {"tenon_device_find", [&] { return tenon_device_find(api.context, "", nullptr); }},
      {"tenon_tensor_create",
       [&] { return tenon_tensor_create(nullptr, TENON_F32, 1, &one, text, 4, &tensor); }},
      {"tenon_tensor_create",
       [&] { return tenon_tensor_create(api.context, TENON_F32, 1, nullptr, text, 4, &tensor); }},
      {"tenon_tensor_create",
       [&] { return tenon_tensor_create(api.context, TENON_F32, 1, &one, nullptr, 4, &tensor); }},
      {"tenon_tensor_create",
       [&] { return tenon_tensor_create(api.context, TENON_F32, 1, &one, text, 4, nullptr); }},
      {"tenon_tensor_type", [&] { return tenon_tensor_type(nullptr, nullptr); }},
      {"tenon_tensor_type", [&] { return tenon_tensor_type(x, nullptr); }},
      {"tenon_tensor_read", [&] { return tenon_tensor_read(nullptr, text, 4); }},
      {"tenon_tensor_read", [&] { return tenon_tensor_read(x, nullptr, 4); }},
      {"tenon_tensor_to_device", [&] { return tenon_tensor_to_device(nullptr, "cpu", &tensor); }},
      {"tenon_tensor_to_device", [&] { return tenon_tensor_to_device(x, "cpu", nullptr); }},
      {"tenon_tensor_device", [&] { return tenon_tensor_device(x, nullptr, 8); }},
      {"tenon_tensor_text", [&] { return tenon_tensor_text(x, nullptr, 8, &number); }},
      {"tenon_graph_parse", [&] { return tenon_graph_parse(nullptr, kLine, "", &graph); }},
      {"tenon_graph_parse", [&] { return tenon_graph_parse(api.context, nullptr, "", &graph); }},
      {"tenon_graph_parse", [&] { return tenon_graph_parse(api.context, kLine, "", nullptr); }},
      {"tenon_graph_text", [&] { return tenon_graph_text(nullptr, text, 8, &number); }},
      {"tenon_graph_counts", [&] { return tenon_graph_counts(nullptr, &number, &number); }},
      {"tenon_graph_input", [&] { return tenon_graph_input(nullptr, 0, nullptr, nullptr); }},
      {"tenon_graph_output", [&] { return tenon_graph_output(nullptr, 0, nullptr, nullptr); }},
      {"tenon_graph_gradient",
       [&] { return tenon_graph_gradient(api.line, nullptr, nullptr, 1, &graph); }},
      {"tenon_graph_gradient",
       [&] { return tenon_graph_gradient(api.line, nullptr, &name, 1, &graph); }},
      {"tenon_graph_compile", [&] { return tenon_graph_compile(nullptr, &x, 1, nullptr); }},
      {"tenon_graph_compile", [&] { return tenon_graph_compile(api.line, nullptr, 1, nullptr); }},
      {"tenon_graph_run",
       [&] { return tenon_graph_run(api.line, &tensor, 1, nullptr, nullptr, 2); }},
      {"tenon_graph_run",
       [&] { return tenon_graph_run(api.line, &tensor, 1, nullptr, &tensor, 2); }},
  };
  for (const auto& [call, f] : calls) check_refused(f(), TENON_ERROR_INVALID, call);
  CHECK(context == nullptr);
  tenon_tensor_destroy(nullptr);
  tenon_graph_destroy(nullptr);
  tenon_context_destroy(nullptr);
  tenon_tensor_destroy(x);
}

TEST_CASE("structs of callers that were built with another header") {
  const Api api;
  tenon_tensor* const x = api.floats({1, 2});
  // A newer caller knows more: what this library does not know becomes 0.
  struct {
    tenon_type type;
    uint64_t later[2];
  } newer{};
  newer.later[0] = newer.later[1] = 77;
  newer.type.size = sizeof newer;
  REQUIRE(tenon_tensor_type(x, &newer.type) == TENON_OK);
  CHECK(newer.type.size == sizeof newer);
  CHECK(newer.type.shape[0] == 2);
  CHECK(newer.later[0] == 0);
  CHECK(newer.later[1] == 0);
  // One who forgot the size wrote nothing legal.
  tenon_type none{};
  check_refused(tenon_tensor_type(x, &none), TENON_ERROR_INVALID, "out.size of at least");
  tenon_context_options options{};
  tenon_context* context = nullptr;
  check_refused(tenon_context_create(&options, &context), TENON_ERROR_INVALID,
                "options.size of at least");
  none.size = 0xabababab;
  check_refused(tenon_tensor_type(x, &none), TENON_ERROR_INVALID, "out.size of at most 4096");
  // An option that this library does not know is not ignored.
  struct {
    tenon_context_options options;
    uint64_t later[2];
  } asked{};
  asked.options.size = sizeof asked;
  asked.options.devices = "cpu";
  asked.later[1] = 1;
  check_refused(
      tenon_context_create(&asked.options, &context), TENON_ERROR_INVALID,
      "expected zeros from byte 32 of options on, which a newer library knows, got 1 at 40");
  CHECK(context == nullptr);
  asked.later[1] = 0;
  REQUIRE(tenon_context_create(&asked.options, &context) == TENON_OK);
  tenon_context_destroy(context);
  tenon_tensor_destroy(x);
}

TEST_CASE("how the calling thread rounds and what it traps do not matter, and stay") {
  constexpr const char* kText =
      "graph c(%x: f32[1]) {\n"
      "  %a = const 0.1 : f32[1]  %b = const 0.1 : f64[1]  %h = const 1e30 : f32[1]\n"
      "  %i = mul %h, %h  %z = const 0.0 : f32[1]  %n = fdiv %z, %z  %r = recip %x\n"
      "  return %a, %b, %i, %n, %r\n}\n";
  const auto run = [&] {
    const Api api;
    tenon_graph* graph = nullptr;
    REQUIRE(tenon_graph_parse(api.context, kText, nullptr, &graph) == TENON_OK);
    tenon_tensor* x = api.floats({0});
    std::array<tenon_tensor*, 5> outputs{};
    REQUIRE(tenon_graph_run(graph, &x, 1, nullptr, outputs.data(), 5) == TENON_OK);
    std::string bits;
    for (tenon_tensor* one : outputs) {
      std::array<unsigned char, 8> bytes{};
      REQUIRE(tenon_tensor_read(one, bytes.data(), one == outputs[1] ? 8 : 4) == TENON_OK);
      for (const unsigned char byte : bytes) bits += std::to_string(byte) + " ";
      tenon_tensor_destroy(one);
    }
    tenon_tensor_destroy(x);
    tenon_graph_destroy(graph);
    return bits;
  };
  const std::string expected = run();
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    const std::string found = run();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(found == expected);
    CHECK(after == rounding);
  }
#if defined(__GLIBC__)
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);  // as SBCL does
  const std::string found = run();
  CHECK(fedisableexcept(FE_ALL_EXCEPT) == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW));
  CHECK(found == expected);
#endif
}

TEST_CASE("a donated input is spent") {
  const Api api;
  std::array inputs{api.floats({1, 2, 3}), api.floats({2})};
  std::array<tenon_tensor*, 2> outputs{};
  const uint8_t donated[] = {1, 0};
  tenon_run_options options{};
  options.size = sizeof options;
  options.donated = donated;
  REQUIRE(tenon_graph_run(api.line, inputs.data(), 2, &options, outputs.data(), 2) == TENON_OK);
  CHECK(values_of(outputs[0]) == std::vector<float>{2, 4, 6});
  float read[3];
  check_refused(tenon_tensor_read(inputs[0], read, 12), TENON_ERROR_INVALID, "donated to [line]");
  for (tenon_tensor* one : {inputs[0], inputs[1], outputs[0], outputs[1]})
    tenon_tensor_destroy(one);
}

TEST_CASE("threads donate one tensor while others use it") {
  const Api api;
  tenon_tensor* const w = api.floats({2});
  constexpr size_t kCount = 100;
  std::atomic<int> wrong = 0;
  for (int round = 0; round < 500; ++round) {
    tenon_tensor* const x = api.floats(std::vector<float>(kCount, 1.5F));
    std::atomic<int> arrived = 0, spent = 0;
    const auto work = [&](uint8_t donates) {
      const uint8_t donated[] = {donates, 0};
      tenon_run_options options{};
      options.size = sizeof options;
      options.donated = donated;
      std::array inputs{x, w};
      std::array<tenon_tensor*, 2> outputs{};
      std::array<float, kCount> values{};
      ++arrived;
      while (arrived < 4) std::this_thread::yield();
      if (tenon_graph_run(api.line, inputs.data(), 2, &options, outputs.data(), 2) == TENON_OK) {
        spent += donates;
        if (tenon_tensor_read(outputs[0], values.data(), sizeof values) != TENON_OK ||
            std::ranges::count(values, 3.0F) != kCount)
          ++wrong;
      }
      char text[8];
      tenon_tensor_text(x, text, sizeof text, nullptr);
      if (tenon_tensor_read(x, values.data(), sizeof values) == TENON_OK &&
          std::ranges::count(values, 1.5F) != kCount)
        ++wrong;
      for (tenon_tensor* one : outputs) tenon_tensor_destroy(one);
    };
    {
      std::vector<std::jthread> threads;
      for (const uint8_t donates : {1, 1, 0, 0}) threads.emplace_back(work, donates);
    }
    if (spent > 1) ++wrong;
    tenon_tensor_destroy(x);
  }
  CHECK(wrong == 0);
  tenon_tensor_destroy(w);
}

TEST_CASE("objects go in any order") {
  tenon_tensor* x = nullptr;
  std::array<tenon_tensor*, 2> outputs{};
  {
    auto api = std::make_unique<Api>();
    x = api->floats({5});
    std::array inputs{x, x};
    REQUIRE(tenon_graph_run(api->line, inputs.data(), 2, nullptr, outputs.data(), 2) == TENON_OK);
    api.reset();  // graph and context go first
  }
  CHECK(values_of(outputs[0]) == std::vector<float>{25});
  tenon_tensor* moved = nullptr;
  REQUIRE(tenon_tensor_to_device(x, "cpu", &moved) == TENON_OK);  // the context is still there
  CHECK(values_of(moved) == std::vector<float>{5});
  for (tenon_tensor* one : {x, moved, outputs[0], outputs[1]}) tenon_tensor_destroy(one);
}

TEST_CASE("threads run one graph at once, each with a message of its own") {
  const Api api;
  std::array<bool, 4> good{};
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < good.size(); ++t) {
      threads.emplace_back([&api, &good, t] {
        bool fine = true;
        for (int i = 0; i < 20 && fine; ++i) {
          const std::vector<float> values(t + 1, static_cast<float>(i));
          const int64_t count = static_cast<int64_t>(values.size()), one = 1;
          const float factor = 2;
          std::array<tenon_tensor*, 2> inputs{}, outputs{};
          std::vector<float> read(values.size());
          fine =
              tenon_tensor_create(api.context, TENON_F32, 1, &count, values.data(),
                                  4 * values.size(), inputs.data()) == TENON_OK &&
              tenon_tensor_create(api.context, TENON_F32, 1, &one, &factor, 4, &inputs[1]) ==
                  TENON_OK &&
              tenon_graph_run(api.line, inputs.data(), 2, nullptr, outputs.data(), 2) == TENON_OK &&
              tenon_tensor_read(outputs[0], read.data(), 4 * read.size()) == TENON_OK &&
              read[t] == 2 * values[t];
          const std::string name = "thread" + std::to_string(t);
          tenon_graph* graph = nullptr;
          fine = fine &&
                 tenon_graph_parse(api.context, "?", name.c_str(), &graph) == TENON_ERROR_INVALID &&
                 std::string(tenon_last_error()).starts_with(name);
          for (tenon_tensor* each : {inputs[0], inputs[1], outputs[0], outputs[1]})
            tenon_tensor_destroy(each);
        }
        good[t] = fine;
      });
    }
  }
  CHECK(good == std::array{true, true, true, true});
}

TEST_CASE("dtypes have names and sizes") {
  CHECK(std::string(tenon_dtype_name(TENON_F32)) == "f32");
  CHECK(std::string(tenon_dtype_name(TENON_F8E4M3)) == "f8e4m3");
  CHECK(tenon_dtype_size(TENON_BOOL) == 1);
  CHECK(tenon_dtype_size(TENON_U64) == 8);
  CHECK(tenon_dtype_name(0) == nullptr);
  CHECK(tenon_dtype_size(1000) == 0);
  CHECK(std::string(tenon_version()) == "0.1.0");
}
