// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a model.
#include "tenon/nn/summary.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tenon/cost.hpp"
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

struct SummaryNet {
  nn::Linear fc1{64, 128};
  nn::BatchNorm bn{128};  // fields in another order than calls
  nn::Linear fc3{16, 10, {.bias = false}}, fc2{128, 16};
  TENON_MODULE(SummaryNet, fc1, bn, fc3, fc2)
  Tensor operator()(const Tensor& x) { return fc3(fc2(bn(fc1(x), nn::Mode()).relu()).relu()) * 2; }
};

}  // namespace

TEST_CASE("a table tells shapes, parameters, operations and kernels of a model") {
  on_each_device([](Context& context) {
    SummaryNet model(Key(1, context));
    nn::freeze(model.fc3);
    model.fc2.weight = model.fc2.weight.softmax();  // lazy
    const Tensor x = normal(Key(2, context), {32, 64});
    const auto of = [&](const Tensor& input) {
      return nn::summary(model, [&](SummaryNet& m) { return m(input); });
    };
    const std::string lazy = of(x);
    realize({x});
    const std::string table = of(x);
    // What each layer does is the same whatever the input is made of.
    const auto layers = [](const std::string& text) {  // without columns' widths
      const std::string rows = text.substr(0, std::min(text.find("(no layer)"), text.find("all ")));
      std::string out;
      for (const char c : rows)
        if (c != ' ' || !out.ends_with(' ')) out += c;
      return out;
    };
    CHECK(layers(lazy) == layers(table));
    for (const Tensor& input :
         {zeros({32, 64}, DType::kF32, context), ones({32, 64}, DType::kF32, context),
          arange(32 * 64, DType::kF32, context).reshape({32, 64}), x * 2.0f,
          zeros({32, 64}, DType::kF32, context) + 1.0f})
      CHECK(layers(of(input)) == layers(table));
    CHECK("\n" + table == R"(
layer  shapes                                                                                   learned  operations
fc1    weight [128, 64], bias [128]                                                               8,320     528,384
bn     weight [128], bias [128], running_mean [128], running_var [128], num_batches_tracked []      256      20,864
fc3    weight [10, 16]                                                                                0      10,560
fc2    weight [16, 128], bias [16]                                                                2,064     132,096
all    4 kernels                                                                                 10,640     691,904
)");
  });
}

TEST_CASE("the cost of a tensor") {
  on_each_device([](Context& context) {
    const Tensor a = normal(Key(1, context), {8, 4}), b = normal(Key(2, context), {4, 6});
    const Tensor c = normal(Key(3, context), {6});
    realize({a, b, c});
    const Cost product = cost(a.matmul(b));
    CHECK(product.flops == std::vector<double>{2.0 * 8 * 4 * 6});
    CHECK(product.kernels == 1);
    // The sum with c, and what follows, is c's, as its root is; that of a is nobody's.
    const Cost grouped =
        cost((a.sqrt().matmul(b) + c.sqrt()).negative().reshape({48}).flip(0), {{c}, {b}});
    CHECK(grouped.flops == std::vector<double>{6 + 96, 2.0 * 8 * 4 * 6, 32});
    // A layer that is used twice, and a sum of two ways.
    const Cost twice = cost(a.matmul(b).matmul(b.transpose()).matmul(b) + a.matmul(b), {{c}, {b}});
    CHECK(twice.flops == std::vector<double>{0, 2.0 * 3 * 8 * 4 * 6 + 48, 0});
    CHECK(cost(a).flops == std::vector<double>{0});
    CHECK(cost(a).kernels == 0);
    CHECK(cost(arange(5, DType::kI64, context) + 1).flops == std::vector<double>{0});
    CHECK_THROWS_AS(cost(2.0), Error);
    CHECK_THROWS_AS(cost(a.with_size(0, Size::symbol("n", 1, 64)) + 1), Error);
  });
}

}  // namespace tenon::test
