// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers in models: names, sequences in pieces, dropout between layers, one plan for many
// lengths; the loss of alignments where there is none; refusals.
#include <cmath>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

struct Model {
  nn::Embedding embedding{5, 3};
  nn::GRU gru{3, 4, {.layers = 2, .bidirectional = true}};
  TENON_FIELDS(embedding, gru)
};

float distance(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<float>(); }

}  // namespace

TEST_CASE("recurrent layers of a model have PyTorch's names below their own") {
  Model model;
  std::vector<std::string> names;
  for (const nn::Named& named : nn::tensors(model)) names.push_back(named.name);
  CHECK(names.size() == 17);
  CHECK(names[0] == "embedding.weight");
  CHECK(names[1] == "gru.weight_ih_l0");
  CHECK(names[5] == "gru.weight_ih_l0_reverse");
  CHECK(names[12] == "gru.bias_hh_l1");
  CHECK(names[16] == "gru.bias_hh_l1_reverse");
}

TEST_CASE("a sequence in pieces is the sequence") {
  on_each_device([](Context& context) {
    const auto f = compile([](nn::Recurrent m, Tensor x, Tensors state) {
      const auto [output, after] = m(x, state);
      return std::tuple(output, after);
    });
    const Key key(1, context);
    for (const nn::Recurrent& layers :
         {nn::Recurrent(nn::LSTM(3, 4, key, {.layers = 2})),
          nn::Recurrent(nn::GRU(3, 4, key, {.layers = 2, .batch_first = true}))}) {
      const Tensor x = normal(Key(2, context), {6, 6, 3});
      const bool second = layers.batch_first;
      const auto part = [&](int64_t begin, int64_t end) {
        return second ? x.slice({Slice{}, Slice{begin, end}}) : x.slice({Slice{begin, end}});
      };
      const auto [whole, last] = layers(x);
      const auto [first, state] = layers(part(0, 4));
      const auto [rest, end] = f(layers, part(4, 6), state);
      CHECK(distance(whole, concatenate({first, rest}, second ? 1 : 0)) < 1e-6f);
      REQUIRE(end.size() == last.size());
      for (size_t s = 0; s < end.size(); ++s) CHECK(distance(last[s], end[s]) < 1e-6f);
    }
  });
}

TEST_CASE("one plan serves sequences of all lengths") {
  on_each_device([](Context& context) {
    nn::RNN layers(3, 4, Key(1, context));
    const auto f = compile([](nn::RNN m, Tensor x) { return m(x).output.sum(); });
    const Size n = Size::symbol("n", 1, 32);
    const Tensor x = normal(Key(2, context), {9, 2, 3});
    for (const int64_t length : {2, 9, 5}) {
      const Tensor part = x.slice({Slice{0, length}});
      CHECK(distance(f(layers, part.with_size(0, n)), layers(part).output.sum()) < 1e-5f);
    }
    CHECK(f.traces() == 1);
  });
}

TEST_CASE("dropout is between layers, and while the model learns") {
  on_each_device([](Context& context) {
    const Key key(1, context);
    nn::LSTM one(3, 4, key, {.dropout = 0.5}), two(3, 4, key, {.layers = 2, .dropout = 0.5});
    const Tensor x = normal(Key(2, context), {5, 2, 3});
    const auto learning = [&] { return nn::Mode::training(Key(3, context)); };
    CHECK(distance(one(x, {}, learning()).output, one(x).output) == 0);
    CHECK(distance(two(x, {}, learning()).output, two(x).output) > 0);
    CHECK(distance(two(x, {}, learning()).output, two(x, {}, learning()).output) == 0);
  });
}

TEST_CASE("a target that no alignment spells has a loss of infinity, or none") {
  on_each_device([](Context& context) {
    const Tensor chances = zeros({3, 1, 2}, DType::kF32, context);
    const Tensor twice = tensor<int64_t>({{1, 1}}, context);  // needs a blank between
    const auto loss = [&](int64_t length, bool zero) {
      return nn::ctc_loss(chances, twice, tensor<int64_t>({length}, context),
                          tensor<int64_t>({2}, context),
                          {.zero_infinity = zero, .reduction = nn::Reduction::kSum})
          .item<float>();
    };
    CHECK(loss(3, false) == 0);  // one path, of chance 1
    CHECK(loss(2, false) == INFINITY);
    CHECK(loss(2, true) == 0);
  });
}

TEST_CASE("labels and lengths of CTC that mean nothing make NaN") {
  on_each_device([](Context& context) {
    using Numbers = std::vector<int64_t>;
    // 4 steps, 5 classes, all equal; class 0 is the blank.
    const auto loss = [&](const Numbers& labels, int64_t length, int64_t count, bool zero = false) {
      const auto one = [&](int64_t value) { return tensor<int64_t>({value}, context); };
      const auto longest = static_cast<int64_t>(labels.size());
      return nn::ctc_loss(zeros({4, 1, 5}, DType::kF32, context),
                          tensor<int64_t>(labels, {1, longest}, context), one(length), one(count),
                          {.zero_infinity = zero, .reduction = nn::Reduction::kNone})
          .item<float>();
    };
    for (const int64_t wrong : {-1, 0, 5, 99}) {
      INFO(wrong);
      CHECK(std::isnan(loss({1, wrong}, 4, 2)));
      CHECK(std::isnan(loss({1, wrong}, 4, 2, true)));
      CHECK(loss({1, wrong}, 4, 1) == loss({1, 2}, 4, 1));  // behind the end
    }
    CHECK(std::isfinite(loss({1, 4}, 4, 2)));
    for (const int64_t length : {-1, 5}) CHECK(std::isnan(loss({1, 2}, length, 2)));
    for (const int64_t count : {-1, 3}) CHECK(std::isnan(loss({1, 2}, 4, count)));
    // Nothing spells nothing, and nothing else.
    CHECK(loss({1, 2}, 0, 0) == 0);
    CHECK(loss({1, 2}, 0, 1) == INFINITY);
    CHECK(loss({1, 2}, 0, 1, true) == 0);
    const Tensor x = zeros({4, 2, 5}, DType::kF32, context);
    const Tensor labels = ones({2, 3}, DType::kI64, context), n = labels.take(0, 1);
    refuses([&] { nn::ctc_loss(x, labels != 0, n, n); },
            "[nn.ctc_loss] expected integer targets [2, longest], got bool of rank 2");
    refuses([&] { nn::ctc_loss(x, labels, n, n != 0); },
            "[nn.ctc_loss] expected target_lengths as integers [2], got bool of rank 1");
  });
}

TEST_CASE("recurrent layers refuse what does not fit") {
  on_each_device([](Context& context) {
    nn::LSTM layers(3, 4, Key(1, context));
    const auto zeros = [&](const Sizes& shape, DType dtype = DType::kF32) {
      return tenon::zeros(shape, dtype, context);
    };
    refuses(
        [&] {
          layers(zeros({5, 2, 2}));
        },
        "[nn.recurrent] expected 3 inputs in the last axis, got [5, 2, 2]");
    refuses([&] { layers(zeros({3})); },
            "[nn.recurrent] expected a sequence [length, n, inputs], or [length, inputs] of one "
            "alone, got [3]");
    refuses(
        [&] {
          layers(zeros({5, 2, 3}), {zeros({1, 2, 4})});
        },
        "[nn.recurrent] expected a state of 2 tensors, got 1");
    refuses(
        [&] {
          layers(zeros({5, 2, 3}), {zeros({1, 2, 4}), zeros({2, 4})});
        },
        "[nn.recurrent] expected a state [1, 2, 4], got [2, 4]");
    refuses([&] { nn::GRU(3, 0); }, "[nn.recurrent] expected sizes above 0, got 3 and 0");
    refuses([&] { nn::GRU(3, 4, {.layers = 0}); },
            "[nn.recurrent] expected one layer or more, got 0");
    refuses([&] { nn::GRU(3, 4, {.dropout = -1}); }, "[nn.dropout] expected a rate in [0, 1)");
    refuses(
        [&] {
          layers(zeros({5, 3}), {zeros({}), zeros({})});
        },
        "[nn.recurrent] expected a state [1, 4], got []");
    const Tensor labels = zeros({2, 3}, DType::kI64), n = labels.take(0, 1);
    refuses(
        [&] {
          nn::ctc_loss(zeros({4, 2, 5}), labels, n, n, {.blank = 5});
        },
        "[nn.ctc_loss] expected a blank among 5 classes, got 5");
    refuses(
        [&] {
          nn::ctc_loss(zeros({4, 2, 5}), n, n, n);
        },
        "[nn.ctc_loss] expected integer targets [2, longest], got i64 of rank 1");
  });
}

}  // namespace tenon::test
