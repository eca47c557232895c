// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The core on the double as a plugin: whole graphs run on it, and a device that is lost half-way
// leaves the others usable.
#include <catch2/catch_test_macros.hpp>

#include "core/ir/text/text.hpp"
#include "core/reference/reference.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr const char* kGraph = R"(graph peaks(%x: f32[6, 5]) {
  %m = reduce.max %x, axes=[1]
  %e = expand %m : f32[6, 5]
  %s = add %x, %e
  return %s
})";

Array numbers() {
  Array array = Array::zeros(DType::kF32, {6, 5});
  for (int64_t i = 0; i < array.count(); ++i) {
    array.set(i, Scalar::of(DType::kF32, static_cast<double>(i * 7 % 11) - 4));
  }
  return array;
}

void check_run(Runtime& runtime, const std::string& device) {
  const Graph graph = parse_graph(kGraph, runtime.builder());
  const std::vector<Array> expected = evaluate(graph, {numbers()}, {});
  for (int i = 0; i < 3; ++i) {
    const std::vector<Array> got = runtime.run(graph, {numbers()}, {}, device);
    REQUIRE(got.size() == 1);
    CHECK(got[0].bytes == expected[0].bytes);
  }
}

}  // namespace

TEST_CASE("graphs run on the double, whose streams run as late as they can") {
  Runtime runtime(options_for("double:0", "double"));
  check_run(runtime, "");
}

TEST_CASE("a device lost half-way leaves the core able to go on with the others") {
  Runtime runtime(options_for("double:0+1", "double"));
  check_run(runtime, "double:0");
  Device& lost = runtime.device("double:0");
  const BufferRef buffer = lost.allocate(64, "b");
  const std::vector<uint8_t> bytes(64, 1);
  lost.write(*buffer, 0, bytes.data(), bytes.size());
  launch(lost.compile(*named_program("lose_it").get()), buffer);
  ErrorKind kind{};
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(error_of([&] { lost.synchronize(); }, &kind).empty());
    CHECK(kind == ErrorKind::kDeviceLost);
    CHECK_FALSE(error_of([&] { check_run(runtime, "double:0"); }, &kind).empty());
    CHECK(kind == ErrorKind::kDeviceLost);
  }
  check_run(runtime, "double:1");
}
