// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases from text, judged in this process by plugins made for tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "conformance/judge/harness.hpp"
#include "core/ir/text/text.hpp"

namespace tenon::conformance {

/// A plugin of plugin/planted.cpp.
inline Target planted_copy(const std::string& bug) {
  const std::filesystem::path build = TENON_BINARY_DIR;
  return {"planted_" + bug, build / ("test-plugins/conformance/libtenon_planted_" + bug + ".so")};
}

/// The interpreter of the self-test; sound without a bug.
inline Target interpreter(const std::string& bug = "") {
  const std::filesystem::path build = TENON_BINARY_DIR;
  return {bug.empty() ? "planted" : "planted:0@bug=" + bug,
          build / "lib/tenon-selftest/libtenon_planted.so"};
}

/// Inputs hold 1, 2, ... 7, 1, ...; static shapes.
inline Case case_of(std::string_view text, Builder& builder) {
  Case test;
  test.seed = 1;
  test.cell = {"graph", "f32", ""};
  test.graph = parse_graph(text, builder);
  for (const NodeRef& param : test.graph.params) {
    Array array = Array::zeros(param->dtype, concrete_shape(param->shape, {}));
    for (int64_t i = 0; i < array.count(); ++i)
      array.set(i, Scalar::of(array.dtype, static_cast<double>(i % 7 + 1)));
    test.inputs.push_back(std::move(array));
  }
  return test;
}

inline Outcome judged(judge::Harness& harness, const Case& test) {
  const judge::Expectation expectation = judge::expect(test, harness.profile());
  return harness.run(test, &expectation, [](judge::RunPhase) {});
}

}  // namespace tenon::conformance
