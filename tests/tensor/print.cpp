// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of tensors: what NumPy prints, for the arrays of goldens/print.json.
#include "tenon/print.hpp"

#include "tenon/literal.hpp"
#include "tenon/make.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/support/error.hpp"

namespace tenon {
namespace {

Array array_of(const nlohmann::json& golden) {
  Array array = Array::zeros(*dtype_from_name(golden["dtype"].get<std::string>()),
                             golden["shape"].get<std::vector<int64_t>>());
  const std::string made = golden["made"], hex = golden["hex"];
  if (made == "arange")
    for (int64_t i = 0; i < array.count(); ++i) array.set(i, Scalar::of_int(array.dtype, i));
  if (made == "hex") {
    REQUIRE(hex.size() == 2 * array.bytes.size());
    for (size_t i = 0; i < array.bytes.size(); ++i)
      array.bytes[i] = static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return array;
}

TEST_CASE("print: as NumPy does") {
  std::ifstream file(TENON_SOURCE_DIR "/tests/tensor/goldens/print.json");
  const nlohmann::json goldens = nlohmann::json::parse(file);
  CHECK(goldens["cases"].size() > 100);
  for (const nlohmann::json& golden : goldens["cases"]) {
    INFO(golden["dtype"] << golden["shape"]);
    CHECK(to_string(array_of(golden)) == golden["text"].get<std::string>());
  }
}

TEST_CASE("print: options, narrow floats, tensors") {
  PrintOptions options;
  options.precision = 2;
  options.threshold = 4;
  options.edge_items = 1;
  const Tensor x = tensor<float>({1.0f / 3, 2, 3, 4, 5.125f});
  CHECK(to_string(x, options) == "[0.33 ... 5.12]");
  options.line_width = 8;
  options.threshold = 100;
  CHECK(to_string(tensor<int32_t>({10, 11, 12, 13}), options) == "[10 11\n 12 13]");
  CHECK(to_string(x.astype(DType::kBF16)) == "[0.334 2.    3.    4.    5.12 ]");
  CHECK(to_string(x.astype(DType::kF8E4M3)) == "[0.34 2.   3.   4.   5.  ]");
  std::ostringstream out;
  out << x;
  CHECK(out.str() == to_string(x));
  options.precision = -1;
  CHECK_THROWS_WITH(to_string(x, options),
                    Catch::Matchers::ContainsSubstring("a precision from 0 to 100, got -1"));
}

TEST_CASE("describe: what is finite, and how much is not") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Description d = describe(tensor<float>({{1, nan, -inf}, {4, inf, 1}}));
  CHECK(d.count == 6);
  CHECK(d.nan_count == 1);
  CHECK(d.infinite_count == 2);
  CHECK(d.min == 1);
  CHECK(d.mean == 2);
  CHECK(d.max == 4);
  CHECK_THAT(to_string(d),
             Catch::Matchers::StartsWith("f32[2, 3] on ") &&
                 Catch::Matchers::EndsWith("min 1, mean 2, max 4, 1 NaN, 2 infinite"));
  CHECK(std::isnan(describe(zeros({0})).mean));
}

}  // namespace
}  // namespace tenon
