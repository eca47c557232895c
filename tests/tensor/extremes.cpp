// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets, steps and numbers at the ends of their types.
#include <cmath>
#include <limits>
#include <utility>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

namespace tenon::test {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Tensor matrix(Context& context) { return tensor<float>({{1, 2, 3}, {4, 5, 6}}, context); }

TEST_CASE("chains of divisions are computed where kernels bind few buffers") {
  on_each_device([](Context& context) {
    const auto chain = [&](const auto& divide, const auto& divided) {
      Tensor x = arange(4, DType::kF32, context) + 0.5, y = full({4}, 0.75, DType::kF32, context);
      Floats expected{0.5, 1.5, 2.5, 3.5}, by(4, 0.75);
      for (int times = 0; times < 3; ++times) {
        const Tensor z = divide(x, y);
        y = x + 0.25;
        x = z;
        for (size_t i = 0; i < 4; ++i)
          by[i] = std::exchange(expected[i], divided(expected[i], by[i])) + 0.25F;
      }
      CHECK(x.to_vector<float>() == expected);
    };
    chain([](const Tensor& x, const Tensor& y) { return x.fmod(y); },
          [](float x, float y) { return std::fmod(x, y); });
    chain([](const Tensor& x, const Tensor& y) { return x.remainder(y); },
          [](float x, float y) { return std::fmod(x, y); });  // of numbers above 0
    chain([](const Tensor& x, const Tensor& y) { return x.floor_divide(y); },
          [](float x, float y) { return std::floor(x / y); });
  });
}

TEST_CASE("offsets of diagonals may be any number") {
  on_each_device([](Context& context) {
    const Tensor x = matrix(context);
    const Floats all{1, 2, 3, 4, 5, 6}, none(6, 0);
    CHECK(tril(x, kMost).to_vector<float>() == all);
    CHECK(tril(x, kLeast).to_vector<float>() == none);
    CHECK(triu(x, kMost).to_vector<float>() == none);
    CHECK(triu(x, kLeast).to_vector<float>() == all);
    CHECK(tri(2, 3, kMost, DType::kF32, context).to_vector<float>() == Floats(6, 1));
    CHECK(eye(2, 3, kLeast, DType::kF32, context).to_vector<float>() == none);
    CHECK(diagonal(x, kLeast).size() == 0);
    CHECK(diagonal(x, kMost).size() == 0);
    CHECK(trace(x, kLeast).item<float>() == 0);
    refuses([&] { diag(x.ravel(), kLeast); }, "[diag] expected sides of at least 0 and below 2^63");
    refuses([&] { diag(x.ravel(), kMost); }, "[diag] expected sides of at least 0 and below 2^63");
  });
}

TEST_CASE("steps, pads and shapes may be large") {
  on_each_device([](Context& context) {
    const Tensor x = matrix(context);
    CHECK(x.slice({Slice{{}, {}, kMost}}).to_vector<float>() == Floats{1, 2, 3});
    CHECK(get(x, {Slice{{}, {}, -kMost}}).to_vector<float>() == Floats{4, 5, 6});
    CHECK(x.pad({{1, 0}}).shape() == std::vector<int64_t>{3, 3});  // the leading axes
    refuses([&] { x.pad({{0, 0}, {0, 0}, {0, 0}}); }, "[pad] expected at most 2 pairs, got 3");
    refuses([&] { x.pad({{kMost, kMost}}); }, "[pad] expected sides of at least 0 and below 2^63");
    refuses([&] { x.reshape({kMost, kMost}); }, "[reshape] expected sizes of at least 0 and below");
    refuses([&] { atleast_nd(x, std::numeric_limits<int>::max()); },
            "[atleast_nd] expected a rank of at most 16, got 2147483647");
    refuses([&] { tile(x, {kMost, 1}); }, "[tile] expected sizes of at least 0 and below 2^63");
    refuses([&] { repeat(x, kMost, 1); }, "[repeat] expected sizes of at least 0 and below 2^63");
    refuses([&] { histogram(x, kMost, 0, 1); }, "[histogram] expected 1 to 67108864 bins");
  });
}

TEST_CASE("the sign of a zero is 0") {
  const Tensor x = tensor<float>({-0.0f, 0.0f, -3.0f, 3.0f});
  CHECK(x.sign().signbit().to_vector<bool>() == std::vector{false, false, true, false});
}

TEST_CASE("ranges of whole numbers are exact") {
  on_each_device([](Context& context) {
    const auto range = [&](Number begin, Number end, Number step, DType dtype) {
      return arange(begin, end, step, dtype, context);
    };
    CHECK(range(kMost - 2, kMost, 1, DType::kI64).to_vector<int64_t>() ==
          std::vector<int64_t>{kMost - 2, kMost - 1});
    CHECK(range(kLeast + 1, kLeast, -1, DType::kI64).to_vector<int64_t>() ==
          std::vector<int64_t>{kLeast + 1});
    const uint64_t most = std::numeric_limits<uint64_t>::max();
    CHECK(range(most - 5, most, 3, DType::kU64).to_vector<uint64_t>() ==
          std::vector<uint64_t>{most - 5, most - 2});
    CHECK(range(7, 0, -3, DType::kI32).to_vector<int32_t>() == std::vector<int32_t>{7, 4, 1});
    CHECK(range(0, -1, 5, DType::kI32).size() == 0);
    refuses([&] { range(most - 5, most, 3, DType::kI64); }, "[arange] expected a value of i64");
    refuses([&] { range(kLeast, kMost, 1, DType::kI64); },
            "[arange] expected fewer than 2^62 numbers");
    refuses([&] { range(most, -9, kLeast, DType::kF64); },
            "[arange] expected numbers that i64 holds or u64 holds");
  });
}

TEST_CASE("ends may lie farther apart than the dtype holds") {
  on_each_device([](Context& context) {
    const auto range = [&](double end, int64_t count, DType dtype) {
      return linspace(-end, end, count, true, dtype, context);
    };
    CHECK(range(1.5e308, 3, DType::kF64).to_vector<double>() == Doubles{-1.5e308, 0, 1.5e308});
    CHECK(range(3e38, 2, DType::kF32).to_vector<float>() == Floats{-3e38f, 3e38f});
    const Tensor x = tensor<double>({-1e308, 1e308, 1.2e308}, context);
    CHECK(histogram(x, 2, -1.5e308, 1.5e308).counts.to_vector<int64_t>() ==
          std::vector<int64_t>{1, 2});
  });
}

TEST_CASE("exponents and counts beyond the dtype") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({0.5f, -1, 2}, context);
    CHECK(x.pow(1e300).to_vector<float>() == Floats{0, 1, INFINITY});
    CHECK(x.pow(-1e300).to_vector<float>() == Floats{INFINITY, 1, 0});
    const Tensor turn = tensor<float>({{0, -1}, {1, 0}}, context);
    CHECK(matrix_power(turn, kLeast).to_vector<float>() == Floats{1, 0, 0, 1});
    refuses([&] { bincount(tensor<int64_t>({kMost}, context)); },
            "[bincount] expected integers below 2^63 - 1");
    refuses([&] { bincount(tensor<uint64_t>({~uint64_t{0}}, context)); },
            "[bincount] expected integers below 2^63 - 1");
  });
}

TEST_CASE("factors of very large and very small matrices") {
  on_each_device([](Context& context) {
    const Tensor a = tensor<double>({{4, 1}, {1, 3}, {2, 2}}, context).astype(DType::kF32);
    const Floats values = svd(a).values.to_vector<float>();
    const Floats r = qr(a).r.to_vector<float>();
    for (const float scale : {1e30f, 1e-30f}) {
      const Floats scaled = svd(a * scale).values.to_vector<float>();
      for (size_t i = 0; i < 2; ++i) CHECK(std::abs(scaled[i] / scale / values[i] - 1) < 1e-5f);
      const Floats scaled_r = qr(a * scale).r.to_vector<float>();
      for (const size_t i : {0, 1, 3}) CHECK(std::abs(scaled_r[i] / scale / r[i] - 1) < 1e-5f);
    }
    CHECK(std::isnan(svd(a * INFINITY).values.to_vector<float>()[0]));
    CHECK(svd(a * 0).values.to_vector<float>() == Floats{0, 0});
  });
}

TEST_CASE("a dtype that is none is refused") {
  on_each_device([](Context& context) {
    const Tensor x = matrix(context);
    refuses([&] { zeros({2}, DType::kVoid, context); }, "[full] expected a dtype, got none");
    refuses([&] { ones_like(x, DType::kVoid); }, "[full] expected a dtype, got none");
    refuses([&] { x.astype(static_cast<DType>(200)); }, "expected a dtype, got code 200");
    refuses([&] { zeros({2}, static_cast<DType>(200), context); },
            "expected a dtype, got code 200");
  });
}

TEST_CASE("an array without its bytes is refused") {
  Array array = Array::zeros(DType::kF32, {2});
  array.bytes.resize(3);
  const std::string why = "expected 2 elements of 4 bytes, got 3 bytes";
  refuses([&] { to_string(array); }, "[print] " + why);
  refuses([&] { write_npy("/nonexistent/x.npy", array); }, "[write_npy] " + why);
  on_each_device(
      [&](Context& context) { refuses([&] { tensor(array, context); }, "[tensor] " + why); });
  const Array whole = Array::zeros(DType::kF32, {5});
  CHECK(to_string(whole, {.threshold = 1, .edge_items = kMost}) == "[0. 0. 0. 0. 0.]");
}

TEST_CASE("what is refused is named as it was called") {
  on_each_device([](Context& context) {
    const Tensor x = matrix(context);
    refuses([&] { x.softmax(2); }, "[softmax] expected an axis in [-2, 2), got 2");
    refuses([&] { x.layer_norm(2); }, "[layer_norm] expected an axis in [-2, 2), got 2");
    refuses([&] { x.mean(2); }, "[mean] expected an axis in [-2, 2), got 2");
    refuses([&] { x.var(2); }, "[var] expected an axis in [-2, 2), got 2");
    refuses([&] { all(x, 2); }, "[all] expected an axis in [-2, 2), got 2");
    refuses([&] { count_nonzero(x, 2); }, "[count_nonzero] expected an axis in [-2, 2), got 2");
    const Tensor two = x.expand_dims(0).broadcast_to({2, 2, 3}),
                 three = x.expand_dims(0).broadcast_to({3, 2, 3});
    refuses([&] { two.matmul(three.matrix_transpose()); },
            "[matmul] expected shapes that broadcast, got [2] and [3]");
  });
}

}  // namespace
}  // namespace tenon::test
