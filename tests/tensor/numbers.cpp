// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers beside tensors: exact in the tensor's dtype, or refused.
#include <cmath>
#include <functional>

#include "core/support/error.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/tensor.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

TEST_CASE("a number is exact in the dtype that it meets") {
  on_each_device([](Context& context) {
    const auto zeros = [&](DType dtype) { return tenon::zeros({2}, dtype, context); };
    CHECK((zeros(DType::kI64) + 16777217).to_vector<int64_t>()[0] == 16777217);
    CHECK((zeros(DType::kI64) + INT64_MIN).to_vector<int64_t>()[1] == INT64_MIN);
    CHECK((zeros(DType::kU64) + UINT64_MAX).to_vector<uint64_t>()[0] == UINT64_MAX);
    CHECK((ones({2}, DType::kF64, context) * 0.1).to_vector<double>()[0] == 0.1);
    CHECK((0.1 + zeros(DType::kF64)).to_vector<double>()[0] == 0.1);
    CHECK((zeros(DType::kF32) + 0.1).to_vector<float>()[0] == 0.1F);
    CHECK((zeros(DType::kI32) + 2.0).to_vector<float>()[0] == 2);
    CHECK((zeros(DType::kI32) + 2.5).to_vector<float>()[0] == 2.5);
    CHECK((zeros(DType::kBool) + 3).to_vector<int64_t>()[0] == 3);
    CHECK((zeros(DType::kBool) | true).to_vector<bool>()[0]);
    CHECK(full({1}, INT64_MAX, DType::kI64, context).item<int64_t>() == INT64_MAX);
    CHECK(full({1}, 0.1, DType::kF64, context).item<double>() == 0.1);
    const Tensor padded = zeros(DType::kI64).pad({{0, 1}}, 9007199254740993);
    CHECK(padded.to_vector<int64_t>()[2] == 9007199254740993);
  });
}

TEST_CASE("a number that does not fit is refused, and both are named") {
  on_each_device([](Context& context) {
    const Tensor bytes = zeros({2}, DType::kU8, context);
    const Tensor ints = zeros({2}, DType::kI32, context);
    const auto full = [&](Number value, DType dtype) {
      return refusal([&] { tenon::full({2}, value, dtype, context); });
    };
    CHECK(full(-1, DType::kU8) == "[full] expected a value of u8, got -1");
    CHECK(full(1e20, DType::kI32) == "[full] expected a value of i32, got 1e+20");
    CHECK(full(1e300, DType::kF32) == "[full] expected a value of f32, got 1e+300");
    CHECK(full(2, DType::kBool) == "[full] expected a value of bool, got 2");
    CHECK(refusal([&] { bytes + 256; }) == "[add] expected a value of u8, got 256");
    CHECK(refusal([&] { -1 * bytes; }) == "[multiply] expected a value of u8, got -1");
    CHECK(refusal([&] { ints < 3000000000; }) == "[less] expected a value of i32, got 3000000000");
    CHECK(refusal([&] { bytes.pad({{1, 1}}, NAN); }) == "[pad] expected a value of u8, got nan");
    CHECK(refusal([&] { arange(300, DType::kU8, context); }) ==
          "[arange] expected a value of u8, got 299");
  });
}

TEST_CASE("numbers that meet no tensor") {
  CHECK(Tensor(3).dtype() == DType::kI64);
  CHECK(Tensor(UINT64_MAX).dtype() == DType::kU64);
  CHECK(Tensor(true).dtype() == DType::kBool);
  CHECK(Tensor(0.5).dtype() == DType::kF32);
}

TEST_CASE("a number that was read is still one") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<double>({1, 2}, context), two(2);
    CHECK(two.item<int64_t>() == 2);
    CHECK((x * two).to_vector<double>() == std::vector<double>{2, 4});
    CHECK(two.item<int64_t>() == 2);
  });
}

TEST_CASE("the mean of more narrow floats than their dtype counts") {
  on_each_device([](Context& context) {
    const Tensor ones = tenon::ones({100000}, DType::kF16, context);
    CHECK(ones.mean().astype(DType::kF32).item<float>() == 1.0F);
  });
}

TEST_CASE("a thousand pairs of reshape and permute") {
  const std::vector<std::vector<int64_t>> shapes = {{24, 30}, {8, 90}, {9, 16, 5}, {3, 240}};
  std::vector<int64_t> expected(720);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int64_t>(i) * 3;
  for (int pair = 0; pair < 1000; ++pair) {
    std::vector<int64_t> dims = shapes[static_cast<size_t>(pair * 7 % 4)];
    if (dims.size() == 2) dims.push_back(1);
    std::vector<int64_t> moved;  // axes reversed
    for (int64_t c = 0; c < dims[2]; ++c)
      for (int64_t b = 0; b < dims[1]; ++b)
        for (int64_t a = 0; a < dims[0]; ++a)
          moved.push_back(expected[static_cast<size_t>((a * dims[1] + b) * dims[2] + c)]);
    expected = std::move(moved);
  }
  on_each_device([&](Context& context) {
    Tensor x = arange(720, DType::kI64, context) * 3;
    for (int pair = 0; pair < 1000; ++pair) {
      const auto& dims = shapes[static_cast<size_t>(pair * 7 % 4)];
      x = x.reshape(dims);
      x = dims.size() == 2 ? x.matrix_transpose() : x.transpose({2, 1, 0});
    }
    CHECK(x.ravel().to_vector<int64_t>() == expected);
  });
}

}  // namespace
}  // namespace tenon::test
