// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who made a number that is not finite is found: in a graph, and by the loop.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <limits>

#include "tenon/finite.hpp"
#include "tenon/gradient.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/random.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/train/learner.hpp"

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string said(const Tensor& x, const std::vector<std::pair<std::string, Tensor>>& inputs = {}) {
  std::string out;
  for (const NotFinite& found : first_not_finite(x, inputs)) out += to_string(found) + "\n";
  return out;
}

struct Scale {
  nn::Parameter w{std::vector<int64_t>{3}, nn::constant(1)};
  TENON_MODULE(Scale, w)
};

/// The variable for as long as this lives.
struct Checking {
  explicit Checking(const char* value) { setenv("TENON_CHECK_NAN", value, 1); }
  ~Checking() { unsetenv("TENON_CHECK_NAN"); }
};

}  // namespace

TEST_CASE("the op that first gave a NaN or an infinity is found in a graph") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({-1, 0, 4, 100}, context);
    const Tensor y = tensor<float>({{1, 2}, {3, 4}}, context);
    CHECK(said(x * 2 + 1).empty());
    CHECK(said(arange(3, DType::kI64, context)).empty());
    // Far from the end, with much before and behind.
    Tensor chain = x;
    for (int i = 0; i < 100; ++i) chain = (chain * 1.01).sin() + x;
    Tensor late = (chain.sin() + x).sqrt();
    for (int i = 0; i < 100; ++i) late = late.cos() + y.sum();
    CHECK(said(late.sum()) == "'sqrt' gave a NaN: f32[4]\n");
    CHECK(said(x.exp().sum()) == "'exp' gave an infinity: f32[4]\n");
    // An infinity that becomes a NaN.
    const Tensor huge = (x * 10).exp();
    CHECK(said(huge - huge.flip(0)).starts_with("'"));
    CHECK(first_not_finite(huge * 0.0 * x).size() == 2);
    // Of what was so before.
    const Tensor bad = tensor<float>({1, std::numeric_limits<float>::quiet_NaN()}, context);
    CHECK(said(bad * 2 + y, {{"x", x}, {"weights", bad}}) == "weights has a NaN: f32[2]\n");
    CHECK(said(bad * 2 + y) == "an input has a NaN: f32[2]\n");
    CHECK(said(x + std::numeric_limits<double>::infinity()).starts_with("'constant' gave an inf"));
    // Within a composite, and within one of those.
    const TensorFunction root =
        composite("root", [](const std::vector<Tensor>& in) { return std::vector{in[0].sqrt()}; });
    const TensorFunction outer = composite("outer", [&](const std::vector<Tensor>& in) {
      return std::vector{root({in[0] - 1})[0].sum()};
    });
    CHECK(said(outer({x.abs()})[0] * 2) == "'sqrt' gave a NaN: f32[4], within root in outer\n");
    CHECK(said(outer({x.sqrt()})[0]) == "'sqrt' gave a NaN: f32[4]\n");
    CHECK_THROWS_WITH(first_not_finite(1.0), ContainsSubstring("expected a tensor"));
  });
}

TEST_CASE("TENON_CHECK_NAN=1 names the op, in the loss and in a gradient, and changes no number") {
  on_each_device([](Context& context) {
    const auto fit = [&](const auto& loss, const Tensor& x) {
      Scale model(Key(1, context));
      train::fit(model, nn::sgd({.learning_rate = 0.1}), std::vector<Tensor>{x}, loss,
                 {.steps = 20, .progress = false});
      return model.w.to_vector<float>();
    };
    const Tensor x = tensor<float>({1, 2, 3}, context);
    const Tensor zero = tensor<float>({1, 0, 3}, context);
    using Batch = std::vector<Tensor>;
    const auto good = [](Scale& m, const Batch& in) { return (m.w * in[0]).square().mean(); };
    const auto log_of = [](Scale& m, const Batch& in) { return (m.w * in[0]).log().sum(); };
    // Its slope at 0 is infinite.
    const auto root = [](Scale& m, const Batch& in) { return (m.w * in[0]).sqrt().sum(); };
    const std::vector<float> expected = fit(good, x);
    CHECK(!std::isfinite(fit(root, zero)[1]));
    const Checking checking("1");
    CHECK(fit(good, x) == expected);
    CHECK_THROWS_WITH(fit(log_of, zero), ContainsSubstring("got an infinity in the loss: 'ln'"));
    CHECK_THROWS_WITH(fit(root, zero), ContainsSubstring("in the gradient of w: '"));
    CHECK_THROWS_WITH(fit(good, zero / zero),
                      ContainsSubstring("in the loss: part 0 of the batch has a NaN: f32[3]"));
    // Not even statistics.
    Learner model(Key(1, context));
    const std::vector<uint32_t> before = bits_of(model);
    const Batch batch{zeros({4, 6}, DType::kF32, context) / 0.0, zeros({4}, DType::kI64, context)};
    CHECK_THROWS_WITH(train::fit(model, learner_optimizer(), batch, learner_loss,
                                 {.steps = 2, .progress = false}),
                      ContainsSubstring("part 0 of the batch has a NaN"));
    CHECK(bits_of(model) == before);
    const Checking wrong("yes");
    CHECK_THROWS_WITH(fit(good, x),
                      ContainsSubstring("TENON_CHECK_NAN: expected 0 or 1, got 'yes'"));
  });
}

}  // namespace tenon::test
