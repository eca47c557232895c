// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How axes are said, tensors that are written out, and their bits.
#include <catch2/catch_test_macros.hpp>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

namespace tenon::test {
namespace {

using Floats = std::vector<float>;
using Shape = std::vector<int64_t>;

TEST_CASE("an axis is a number or a list") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}}, context);
    CHECK(x.sum().item<float>() == 21);
    CHECK(x.sum({}).item<float>() == 21);
    CHECK(x.sum(0).to_vector<float>() == Floats{5, 7, 9});
    CHECK(sum(x, -1).to_vector<float>() == Floats{6, 15});
    CHECK(x.sum({1}).to_vector<float>() == Floats{6, 15});
    CHECK(x.sum({0, -1}).item<float>() == 21);
    CHECK(x.sum(std::vector<int>{0}).to_vector<float>() == Floats{5, 7, 9});
    CHECK(x.sum(1, /*keepdims=*/true).shape() == Shape{2, 1});
    CHECK(x.argmax(1).to_vector<int64_t>() == Shape{2, 2});
    CHECK(x.argmax({0}).to_vector<int64_t>() == Shape{1, 1, 1});
    CHECK(x.argmax().item<int64_t>() == 5);
    CHECK(x.cumsum().to_vector<float>() == Floats{1, 3, 6, 10, 15, 21});
    CHECK(x.flip(1).to_vector<float>() == Floats{3, 2, 1, 6, 5, 4});
    CHECK(x.flip().to_vector<float>() == Floats{6, 5, 4, 3, 2, 1});
    CHECK(x.softmax({0, 1}).sum().item<float>() == 1);
    CHECK(x.transpose().shape() == Shape{3, 2});
    CHECK(x.expand_dims({0, -1}).shape() == Shape{1, 2, 3, 1});
    CHECK(x.expand_dims({0, -1}).squeeze(0).shape() == Shape{2, 3, 1});
    CHECK(x.expand_dims({0, -1}).squeeze().shape() == Shape{2, 3});
    CHECK(x.expand_dims(0).transpose({2, 0, 1}).shape() == Shape{3, 1, 2});
    CHECK(x.expand_dims(0).transpose().shape() == Shape{3, 2, 1});
    CHECK(x.expand_dims(0).matrix_transpose().shape() == Shape{1, 3, 2});
  });
}

TEST_CASE("an axis that is not there, or twice, is refused") {
  on_each_device([](Context& context) {
    const Tensor x = zeros({2, 3}, DType::kF32, context);
    refuses([&] { x.sum(2); }, "[sum] expected an axis in [-2, 2), got 2");
    refuses([&] { x.mean({0, -3}); }, "[mean] expected an axis in [-2, 2), got -3");
    refuses([&] { x.max({1, -1}); }, "[max] expected each axis once, got 1, -1");
    refuses([&] { x.argmax({0, 1}); }, "[argmax] expected one axis or none, got 0, 1");
    refuses([&] { x.cumsum({0, 1}); }, "[cumsum] expected one axis or none, got 0, 1");
    refuses([&] { x.cumsum(2); }, "[cumsum] expected an axis in [-2, 2), got 2");
    refuses([&] { x.softmax(2); }, "[softmax] expected an axis in [-2, 2), got 2");
    refuses([&] { x.transpose({0, 0}); }, "[transpose] expected each axis once");
    refuses([&] { x.swapaxes(0, 2); }, "[swapaxes] expected an axis in [-2, 2), got 2");
    refuses([&] { x.expand_dims({0, 0}); }, "[expand_dims] expected each axis once, got 0, 0");
    refuses([&] { x.take(0, 2); }, "[take] expected an axis in [-2, 2), got 2");
  });
}

TEST_CASE("a literal has the rank of its braces and the dtype of its elements") {
  on_each_device([](Context& context) {
    const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}, context);
    CHECK(x.dtype() == DType::kF32);
    CHECK(x.shape() == Shape{3, 2});
    CHECK(x.to_vector<float>() == Floats{1, 2, 3, 4, 5, 6});
    CHECK(tensor({1.f}, context).shape() == Shape{1});
    CHECK(tensor({{1.f}}, context).shape() == Shape{1, 1});
    CHECK(tensor({{{1.f}}, {{2.f}}}, context).shape() == Shape{2, 1, 1});
    CHECK(tensor(2.f, context).shape().empty());
    CHECK(tensor({1, 2}, context).dtype() == DType::kI32);
    CHECK(tensor({true, false}, context).dtype() == DType::kBool);
    CHECK(tensor<int64_t>({{1}, {2}}, context).to_vector<int64_t>() == Shape{1, 2});
    CHECK(tensor<float>({1, 2.5}, context).to_vector<float>() == Floats{1, 2.5});
    CHECK(tensor({1, 2.5}, DType::kF16, context).to_vector<float>() == Floats{1, 2.5});
    CHECK(tensor(std::vector{1.f, 2.f}, {2, 1}, context).shape() == Shape{2, 1});
  });
}

TEST_CASE("a literal that is no tensor is refused") {
  on_each_device([](Context& context) {
    refuses(
        [&] {
          tensor({{1.f, 2.f}, {3.f}}, context);
        },
        "[tensor] expected rows of one shape, got [2] and [1]");
    refuses(
        [&] {
          tensor({{1.f}, 2.f}, context);
        },
        "[tensor] expected rows of one shape, got [1] and []");
    refuses(
        [&] {
          tensor({1, 2.f}, context);
        },
        "[tensor] expected elements of one C++ type or a dtype, got different types");
    refuses([&] { tensor<uint8_t>({1, -1}, context); }, "[tensor] expected a value of u8, got -1");
    refuses(
        [&] {
          tensor(std::vector{1.f, 2.f}, {3}, context);
        },
        "[tensor] expected 3 values for shape [3], got 2");
  });
}

TEST_CASE("bit_cast reads the same bits") {
  on_each_device([](Context& context) {
    const Tensor x = tensor({1.f, -0.f}, context);
    CHECK(x.bit_cast(DType::kU32).to_vector<uint32_t>() == std::vector{0x3F800000U, 0x80000000U});
  });
}

}  // namespace
}  // namespace tenon::test
