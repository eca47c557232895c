// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What brackets refuse, and what they do not read back.
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using test::on_each_device;
using test::refuses;

TEST_CASE("brackets refuse what is not there") {
  on_each_device([](Context& context) {
    const Tensor x = ones({2, 3}, DType::kF32, context);
    const Tensor whole = arange(2, DType::kI64, context);
    const Tensor flags = ones({3}, DType::kBool, context);
    refuses([&] { get(x, {2}); }, "[get] expected an index in [-2, 2) on axis 0, got 2");
    refuses([&] { get(x, {0, -4}); }, "[get] expected an index in [-3, 3)");
    refuses([&] { get(x, {0, 0, 0}); }, "[get] expected at most 2 indices, got 3");
    refuses([&] { get(x, {ellipsis, 0, ellipsis}); }, "[get] expected at most one ellipsis, got 2");
    refuses([&] { get(x, {Slice{0, 1, 0}}); }, "[get] expected a slice with a step that is not 0");
    refuses([&] { get(x, {x}); }, "[get] expected an index of integers or bools, got f32");
    refuses([&] { get(x, {flags}); }, "[get] expected a mask with size 2 for axis 0, got [3]");
    refuses([&] { get(x, {flags.take(0, 0)}); }, "[get] expected a mask of rank 1 or more");
    refuses(
        [&] {
          get(x, {whole, arange(3, DType::kI64, context)});
        },
        "[get] expected shapes that broadcast, got [2] and [3]");
    refuses([&] { set(x, {0}, ones({2}, DType::kF32, context)); },
            "[set] expected shapes that broadcast, got [2] and [3]");
    refuses(
        [&] {
          set(x, {0, 0}, ones({2}, DType::kF32, context));
        },
        "[set] expected values that broadcast to [], got [2]");
    refuses([&] { set(x, {0}, whole); }, "[set] expected values of f32, got i64");
    refuses([&] { take_along_axis(x, whole, 2); },
            "[take_along_axis] expected an axis in [-2, 2), got 2");
    refuses([&] { take_along_axis(x, x, 0); },
            "[take_along_axis] expected an index of integers, got f32");
    refuses([&] { put_along_axis(x, whole, x, 0); },
            "[put_along_axis] expected indices of the values' shape [2, 3], got [2]");
    const Tensor at = zeros({2, 3}, DType::kI64, context);
    refuses([&] { put_along_axis(x, at, at, 0); },
            "[put_along_axis] expected values of f32, got i64");
    refuses([&] { put_along_axis(at, at, at, 0, Combine::kMean); },
            "[put_along_axis] expected a float dtype for a mean, got i64");
  });
}

TEST_CASE("a number where a mask is true reads nothing back") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({{1, -2}, {3, -4}}, context);
    const Tensor positive = set(x, {x < 0}, 0);
    CHECK(x.shape() == std::vector<int64_t>{2, 2});
    CHECK(positive.to_vector<float>() == std::vector<float>{1, 0, 3, 0});
    const Tensor rows = tensor<bool>({false, true}, context);
    CHECK(set(x, {rows}, 9.5).to_vector<float>() == std::vector<float>{1, -2, 9.5, 9.5});
  });
}
