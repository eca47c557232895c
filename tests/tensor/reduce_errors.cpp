// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reductions, scans and functions of order refuse, and in which words.
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using test::on_each_device;
using test::refuses;

TEST_CASE("reductions refuse what they cannot reduce") {
  on_each_device([](Context& context) {
    const Tensor x = ones({2, 3}, DType::kF32, context);
    const Tensor none = ones({2, 0}, DType::kF32, context);
    refuses([&] { any(x, 2); }, "[any] expected an axis in [-2, 2), got 2");
    refuses([&] { var(x, {0, -2}); }, "[var] expected each axis once, got 0, -2");
    refuses([&] { var(x, 0, false, NAN); }, "[var] expected a finite ddof, got nan");
    refuses([&] { ptp(none, 1); }, "[ptp] expected at least one element to reduce, got none");
    refuses([&] { ptp(x > 0); }, "[ptp] expected numbers, got bool");
    refuses([&] { norm(x, NAN); }, "[norm] expected an order p, got NaN");
    refuses([&] { norm(none, INFINITY); },
            "[norm] expected at least one element to reduce, got none");
    refuses([&] { argmin(none, 1); }, "[argmin] expected a non-empty axis, got size 0 on axis 1");
    refuses([&] { argmax(none); }, "[argmax] expected at least one element, got none");
    refuses([&] { argmin(x, -3); }, "[argmin] expected an axis in [-2, 2), got -3");
    refuses([&] { logsumexp(x, 5); }, "[logsumexp] expected an axis in [-2, 2), got 5");
    refuses([&] { log_softmax(x, {1, 1}); }, "[log_softmax] expected each axis once, got 1, 1");
    refuses([&] { quantile(x, 1.5); }, "[quantile] expected q in [0, 1], got 1.5");
    refuses([&] { quantile(x, std::vector<double>{}); }, "[quantile] expected at least one q");
    refuses([&] { median(none); }, "[median] expected at least one element to reduce, got none");
  });
}

TEST_CASE("scans refuse axes that are not there") {
  on_each_device([](Context& context) {
    const Tensor x = ones({2, 3}, DType::kF32, context);
    const Tensor scalar = ones({}, DType::kF32, context);
    refuses([&] { cumsum(x, 2); }, "[cumsum] expected an axis in [-2, 2), got 2");
    refuses([&] { cumprod(x, -3); }, "[cumprod] expected an axis in [-2, 2), got -3");
    refuses([&] { cummax(x, 9); }, "[cummax] expected an axis in [-2, 2), got 9");
    refuses([&] { cummin(x, 2); }, "[cummin] expected an axis in [-2, 2), got 2");
    refuses([&] { logcumsumexp(x, 2); }, "[logcumsumexp] expected an axis in [-2, 2), got 2");
    refuses([&] { cumsum(scalar, 0); }, "[cumsum] expected an axis in [0, 0), got 0");
    refuses([&] { cumprod(scalar, 0); }, "[cumprod] expected an axis in [0, 0), got 0");
    refuses([&] { cummax(scalar, -1); }, "[cummax] expected an axis in [0, 0), got -1");
    refuses([&] { cummin(scalar, 1); }, "[cummin] expected an axis in [0, 0), got 1");
    refuses([&] { x.cumsum(2); }, "[cumsum] expected an axis in [-2, 2), got 2");
  });
}

TEST_CASE("functions of order refuse what has none") {
  on_each_device([](Context& context) {
    const Tensor x = ones({2, 3}, DType::kF32, context);
    const Tensor whole = arange(4, DType::kI64, context);
    refuses([&] { sort(x, 2); }, "[sort] expected an axis in [-2, 2), got 2");
    refuses([&] { argsort(x, -3); }, "[argsort] expected an axis in [-2, 2), got -3");
    refuses([&] { topk(x, 4); }, "[topk] expected k in [0, 3], got 4");
    refuses([&] { topk(x, -1); }, "[topk] expected k in [0, 3], got -1");
    refuses([&] { searchsorted(x, x); },
            "[searchsorted] expected a sorted tensor of rank 1, got rank 2");
    refuses([&] { searchsorted(whole, x); }, "[searchsorted] expected values of i64, got f32");
    refuses([&] { bincount(x); }, "[bincount] expected integers, got f32");
    refuses([&] { bincount(whole, -1); }, "[bincount] expected a length of at least 0, got -1");
    refuses([&] { bincount(whole - 2); }, "[bincount] expected integers of at least 0, got -2");
    refuses([&] { bincount(whole, 4, x); },
            "[bincount] expected a weight for each of 4 integers, got 6");
    refuses([&] { histogram(x, 0, 0, 1); }, "[histogram] expected 1 to 67108864 bins, got 0");
    refuses([&] { histogram(x, 3, 1, 1); },
            "[histogram] expected finite edges, the lower first, got 1 and 1");
    refuses([&] { nonzero(x.take(0, 0).take(0, 0)); },
            "[nonzero] expected a tensor of rank 1 or more");
    refuses([&] { masked_select(x, x); }, "[masked_select] expected a mask of bool, got f32");
    refuses([&] { masked_select(x, whole > 1); }, "[masked_select] expected shapes that broadcast");
  });
}

TEST_CASE("running sums of a long axis are exact") {
  on_each_device([](Context& context) {
    const int64_t count = 100'000;
    const Tensor x = arange(count, DType::kI64, context);
    const std::vector<int64_t> sums = cumsum(x, 0).to_vector<int64_t>();
    for (int64_t i = 0; i < count; i += 7) REQUIRE(sums[static_cast<size_t>(i)] == i * (i + 1) / 2);
    CHECK(cumsum(x, 0).take(-1, 0).item<int64_t>() == count * (count - 1) / 2);
  });
}
