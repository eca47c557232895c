// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules as values: names, initial values, freezing, modes, and what traced functions do with
// them.
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

struct Block {
  nn::Linear fc{4, 4};
  nn::BatchNorm bn{4};
  TENON_FIELDS(fc, bn)
  Tensor operator()(const Tensor& x, const nn::Mode& mode) { return bn(fc(x), mode).tanh(); }
};

struct ModuleNet {
  nn::Sequential<nn::Linear, nn::Relu, nn::Dropout> head{nn::Linear(3, 4), nn::Relu(),
                                                         nn::Dropout(0.5)};
  std::vector<Block> blocks = std::vector<Block>(2);
  nn::Linear out{4, 2, {.bias = false}};
  TENON_FIELDS(head, blocks, out)
  Tensor operator()(const Tensor& x, const nn::Mode& mode = {}) {
    Tensor h = head(x, mode);
    for (Block& block : blocks) h = h + block(h, mode);
    return out(h);
  }
};

template <class M>
std::vector<std::string> names_of(M& model) {
  std::vector<std::string> out;
  for (const nn::Named& named : nn::tensors(model)) out.push_back(named.name);
  return out;
}

}  // namespace

TEST_CASE("tensors of a model have the names that PyTorch gives them, in the order of fields") {
  ModuleNet net;
  CHECK(names_of(net) ==
        std::vector<std::string>{"head.0.weight", "head.0.bias", "blocks.0.fc.weight",
                                 "blocks.0.fc.bias", "blocks.0.bn.weight", "blocks.0.bn.bias",
                                 "blocks.0.bn.running_mean", "blocks.0.bn.running_var",
                                 "blocks.0.bn.num_batches_tracked", "blocks.1.fc.weight",
                                 "blocks.1.fc.bias", "blocks.1.bn.weight", "blocks.1.bn.bias",
                                 "blocks.1.bn.running_mean", "blocks.1.bn.running_var",
                                 "blocks.1.bn.num_batches_tracked", "out.weight"});
  CHECK(nn::parameters(net).size() == 11);
  CHECK(nn::count(net) == 12 + 4 + 2 * (16 + 4 + 4 + 4) + 8);
}

TEST_CASE("a parameter of what was made without a key has no value, and says so") {
  ModuleNet net;
  refuses([&] { net.out(ones({1, 4})); }, "a parameter of a layer or a model made without a key");
  refuses([&] { nn::value_and_grad(net, [](ModuleNet& m) {
                  return m(ones({1, 3})).sum();
                }); },
          "a parameter of a layer or a model made without a key");
}

TEST_CASE("a model that is made with a key has values, and those that init gives") {
  struct Mlp {
    nn::Linear fc1{3, 4}, fc2{4, 2};
    TENON_MODULE(Mlp, fc1, fc2)
  };
  struct Declared {
    nn::Linear fc1{3, 4}, fc2{4, 2};
    TENON_FIELDS(fc1, fc2)
  };
  static_assert(!std::is_default_constructible_v<Mlp>);
  Mlp model(Key(1));
  const Declared same = nn::init(Declared(), Key(1));
  CHECK(model.fc2.weight.to_vector<float>() == same.fc2.weight.to_vector<float>());
  refuses([&] { model.fc2(ones({1, 3})); }, "in layer fc2");
  const nn::Linear layer(3, 4, Key(1)), alone = nn::init(nn::Linear(3, 4), Key(1));
  CHECK(layer.weight.to_vector<float>() == alone.weight.to_vector<float>());
}

TEST_CASE("equal keys give equal models, others others, and each parameter its own values") {
  ModuleNet a = nn::init(ModuleNet(), Key(1)), b = nn::init(ModuleNet(), Key(1)),
            c = nn::init(ModuleNet(), Key(2));
  const auto of = [](ModuleNet& net) { return net.blocks[0].fc.weight.to_vector<float>(); };
  CHECK(of(a) == of(b));
  CHECK(of(a) != of(c));
  CHECK(of(a) != a.blocks[1].fc.weight.to_vector<float>());
  for (const float w : of(a)) CHECK(std::abs(w) <= 0.5f);
}

TEST_CASE("a value of another shape or dtype is refused, and a model can be given another dtype") {
  nn::Linear layer(3, 2, Key(1));
  refuses(
      [&] {
        layer.weight = zeros({3, 2});
      },
      "expected a value of type f32[2, 3], got f32[3, 2]");
  refuses([&] { layer.weight = zeros({2, 3}, DType::kF16); }, "got f16[2, 3]");
  nn::map(layer, [](const std::string&, const Tensor& x) { return x.astype(DType::kBF16); });
  CHECK(layer(ones({1, 3}, DType::kBF16)).dtype() == DType::kBF16);
}

TEST_CASE("errors of a layer say where in its model it is") {
  struct Block {
    nn::Linear fc{3, 2};
    nn::GroupNorm norm{1, 2, {.bias = false}};
    TENON_FIELDS(fc, norm)
  };
  struct ModuleNet {
    nn::Conv2d conv{2, 4, 3};
    nn::LSTM rnn{3, 4};
    nn::GCNConv gcn{3, 2};
    nn::Sequential<nn::Linear> head{nn::Linear(3, 2)};
    std::vector<Block> blocks = std::vector<Block>(2);
    TENON_FIELDS(conv, rnn, gcn, head, blocks)
  };
  ModuleNet net;
  const Tensor x = ones({2, 4});
  refuses([&] { return net.blocks[1].fc(x); }, "in the last axis, got 4");
  net = nn::init(net, Key(1));
  const std::string at = std::filesystem::temp_directory_path() / "tenon_names.safetensors";
  nn::save(at, net.blocks[1]);
  ModuleNet loaded;
  nn::save(at, net);
  nn::load(at, loaded);
  std::filesystem::remove(at);
  for (const ModuleNet& one : {net, loaded}) {
    refuses([&] { return one.blocks[1].fc(x); }, "got 4, in layer blocks.1.fc");
    refuses([&] { return one.blocks[0].norm(ones({2, 3})); }, "in layer blocks.0.norm");
    refuses([&] { return one.conv(ones({1, 2, 2, 8})); }, "1 apart, in layer conv");
    refuses([&] { return one.rnn(ones({5, 2, 2})); }, "in layer rnn");
    refuses([&] { return one.gcn(x, ones({2, 2})); }, "got 4, in layer gcn.lin");
    refuses([&] { return one.head(x); }, "got 4, in layer head.0");
  }
}

TEST_CASE("shapes that do not fit a layer are errors that name it") {
  nn::Linear layer(3, 2, Key(1));
  refuses([&] { layer(ones({2, 4})); }, "[nn.linear] expected 3 inputs in the last axis, got 4");
  nn::Conv2d conv(2, 4, 3, Key(1));
  refuses(
      [&] {
        conv(ones({1, 3, 8, 8}));
      },
      "[nn.conv] expected [n, 2 channels, 2 sizes], got [1, 3, 8, 8]");
  refuses(
      [&] {
        conv(ones({1, 2, 2, 8}));
      },
      "[nn.windows] expected windows within axis 2 of size 2, got 3 elements");
  refuses([] { nn::Conv2d(3, 4, 3, {.groups = 2}); },
          "[nn.conv] expected channels above 0 that divide into groups, got 4 and 3 in 2 groups");
  nn::RMSNorm norm(8, Key(1));
  refuses([&] { norm(ones({4, 1})); }, "[nn.rms_norm] expected a last axis of size 8, got 1");
  refuses(
      [] {
        nn::nll_loss(ones({2, 3}), ones({2}));
      },
      "[nn.nll_loss] expected integer labels in the shape of f32[2, 3] without axis 1, got f32[2]");
  const nn::LayerNorm plain({8}, Key(1), {.weight = false});
  refuses(
      [&] {
        plain(ones({4, 1}));
      },
      "[nn.layer_norm] expected last axes [8], got axis 1 of size 1");
  refuses([] { nn::adaptive_avg_pool(ones({4}, DType::kI32), {3}); },
          "[nn.adaptive_avg_pool] expected a float dtype, got i32");
  for (const nn::ConvTransposeOptions<1>& options :
       {nn::ConvTransposeOptions<1>{.stride = 0}, {.padding = -1}, {.dilation = 0}})
    refuses([&] { nn::ConvTranspose1d(1, 1, 2, options); },
            "[nn.conv_transpose] expected strides and dilations above 0");
  nn::ConvTranspose1d turned(1, 1, 2, Key(1));
  refuses(
      [&] {
        turned(ones({1, 1, 0}));
      },
      "[nn.conv_transpose] expected sizes above 0, got [1, 1, 0]");
  refuses([] { nn::Linear(0, 4); }, "[nn.linear] expected sizes above 0, got 0 and 4");
  refuses([] { nn::GroupNorm(3, 4); }, "[nn.group_norm] expected channels that divide into groups");
  refuses([] { nn::Dropout(1.0); }, "[nn.dropout] expected a rate in [0, 1), got 1");
  nn::Embedding table(5, 2, Key(1));
  refuses([&] { table(ones({2})); }, "[nn.embedding] expected integers, got f32");
  refuses(
      [] {
        nn::cross_entropy(ones({4, 3}), tensor<int64_t>({1, 2}));
      },
      "[nn.cross_entropy] expected integer labels in the shape of f32[4, 3] without axis 1, got "
      "i64[2]");
  refuses(
      [] {
        nn::mse_loss(ones({4}), ones({4, 1}));
      },
      "[nn.mse_loss] expected a target that broadcasts to the prediction, f32[4], got f32[4, 1]");
}

TEST_CASE("means of parts of f64 are as exact as f64") {
  on_each_device([](Context& context) {
    const Tensor x = arange(7, DType::kF64, context);
    CHECK(nn::adaptive_avg_pool(x, {3}).to_vector<double>() == std::vector<double>{1, 3, 5});
  });
}

TEST_CASE("a label that is no class makes the loss NaN, and one to be ignored does not count") {
  const Tensor logits = normal(Key(1), {3, 4});
  const auto loss = [&](std::initializer_list<int64_t> labels) {
    return nn::cross_entropy(logits, tensor(std::vector(labels), {3})).item<float>();
  };
  CHECK(std::isnan(loss({0, 4, 1})));
  CHECK(std::isnan(loss({0, -1, 1})));
  CHECK(std::isfinite(loss({0, -100, 1})));
  CHECK(std::isnan(loss({-100, -100, -100})));
}

TEST_CASE("what is frozen gets no gradient and no update, and keeps its value") {
  ModuleNet net = nn::init(ModuleNet(), Key(3));
  CHECK(nn::freeze(net.blocks) == 8);
  CHECK(nn::freeze(net.blocks) == 0);
  CHECK(nn::learned(net).size() == 3);
  const std::vector<float> before = net.blocks[0].fc.weight.to_vector<float>();
  const nn::Optimizer optimizer = nn::sgd({.learning_rate = 0.1});
  nn::OptimizerState state = optimizer.init(net);
  const auto [loss, gradients] = nn::value_and_grad(net, [](ModuleNet& m) {
    return m(ones({4, 3}), nn::Mode::training(Key(1))).square().mean();
  });
  CHECK(gradients.size() == 3);
  optimizer.update(net, gradients, state);
  nn::realize(net, state);
  CHECK(net.blocks[0].fc.weight.to_vector<float>() == before);
  nn::freeze(net, false);
  refuses([&] { optimizer.update(net, gradients, state); },
          "expected a gradient for each of 11 parameters, got 3");
  nn::freeze(net);
  refuses([&] { optimizer.init(net); }, "expected a model with something to learn");
  refuses([&] { nn::value_and_grad(net, [](ModuleNet& m) {
                  return m(ones({4, 3})).sum();
                }); },
          "expected a model with something to learn");
}

TEST_CASE("a parameter that the loss does not need is named") {
  ModuleNet net = nn::init(ModuleNet(), Key(3));
  refuses([&] { nn::value_and_grad(net, [](ModuleNet& m) {
                  return m.out(ones({1, 4})).sum();
                }); },
          "expected an output that depends on head.0.weight (f32[4, 3])");
}

TEST_CASE("running statistics move while a model learns, and are used when it answers") {
  nn::BatchNorm norm(2, Key(1));
  const Tensor x = tensor<float>({{1, 10}, {3, 30}});
  norm(x, nn::Mode::training());
  CHECK(norm.running_mean.to_vector<float>() == std::vector<float>{0.2f, 2.0f});
  CHECK(norm.num_batches_tracked.item<int64_t>() == 1);
  const float a = norm(x).slice({{0, 1}, {0, 1}}).item<float>();
  CHECK(std::abs(a - 0.8f / std::sqrt(0.9f + 0.1f * 2 + 1e-5f)) < 1e-5f);
  refuses(
      [&] {
        norm(ones({1, 2}), nn::Mode::training());
      },
      "[nn.batch_norm] expected more than one value a channel");
}

TEST_CASE("dropout draws anew at each use, wants a key, and rests when a model answers") {
  const nn::Dropout drop(0.5);
  const Tensor x = ones({64});
  const nn::Mode mode = nn::Mode::training(Key(5));
  const auto a = drop(x, mode).to_vector<float>(), b = drop(x, mode).to_vector<float>();
  CHECK(a != b);
  for (const float value : a) CHECK((value == 0 || value == 2));
  CHECK(drop(x).to_vector<float>() == x.to_vector<float>());
  refuses([&] { drop(x, nn::Mode::training()); },
          "[nn.dropout] expected a Mode with a key to draw from");
}

TEST_CASE(
    "a traced step of learning is one plan, moves statistics and options, and lowers the loss") {
  on_each_device([](Context& context) {
    ModuleNet net = nn::init(ModuleNet(), Key(7, context));
    const nn::Optimizer optimizer =
        nn::adamw({.learning_rate = nn::warmup_cosine(0.1, 5, 90), .weight_decay = 0.01});
    nn::OptimizerState state = optimizer.init(net);
    const auto step = compile(
        [&](ModuleNet model, nn::OptimizerState kept, Tensor x, Tensor y, Key key) {
          const auto [loss, gradients] = nn::value_and_grad(model, [&](ModuleNet& m) {
            return nn::cross_entropy(m(x, nn::Mode::training(key)), y);
          });
          optimizer.update(model, gradients, kept);
          return std::tuple(model, kept, loss);
        },
        {.name = "step", .donate = {0, 1}});
    const Tensor x = normal(Key(1, context), {32, 3});
    const Tensor y = (x.take(0, 1) * x.take(1, 1) > 0).astype(DType::kI64);
    Key key(11, context);
    float first = 0, last = 0;
    for (int i = 0; i < 90; ++i) {
      const std::vector<Key> keys = key.split();
      key = keys[0];
      Tensor loss = 0.0;
      std::tie(net, state, loss) = step(net, state, x, y, keys[1]);
      last = loss.item<float>();
      if (i == 0) first = last;
    }
    INFO(first << " to " << last);
    CHECK(last < 0.7f * first);
    CHECK(step.traces() == 1);
    CHECK(net.blocks[1].bn.num_batches_tracked.item<int64_t>() == 90);
    CHECK(optimizer.named(nn::learned(net), state)[0].name == "adam.mean.head.0.weight");
  });
}

TEST_CASE("a frozen model is traced apart from one that learns, and so are other options") {
  const auto run = compile([](nn::LayerNorm norm, Tensor x) { return norm(x); });
  const Tensor x = normal(Key(1), {2, 4});
  nn::LayerNorm a({4}, Key(1)), b({4}, Key(1), {.epsilon = 1.0});
  const auto of_a = run(a, x).to_vector<float>(), of_b = run(b, x).to_vector<float>();
  CHECK(of_a != of_b);
  CHECK(run.traces() == 2);
  nn::freeze(a);
  CHECK(run(a, x).to_vector<float>() == of_a);
  CHECK(run.traces() == 3);
}

TEST_CASE("initialisers have the moments that their authors gave them") {
  const auto moments = [](const nn::Initialiser& begin, std::vector<int64_t> shape) {
    const Tensor x = begin(Key(9), shape);
    return std::pair(x.mean().item<float>(), x.square().mean().sqrt().item<float>());
  };
  const std::vector<int64_t> shape{128, 32, 3, 3};
  const double in = 32 * 9, out = 128 * 9;
  const auto near = [](double a, double b) { return std::abs(a - b) < 0.03 * b; };
  CHECK(near(moments(nn::xavier_uniform(), shape).second, std::sqrt(2 / (in + out))));
  CHECK(near(moments(nn::xavier_normal(), shape).second, std::sqrt(2 / (in + out))));
  CHECK(near(moments(nn::kaiming_uniform(), shape).second, std::sqrt(2 / in)));
  CHECK(near(moments(nn::kaiming_normal(1, nn::Fan::kOut), shape).second, std::sqrt(1 / out)));
  CHECK(near(moments(nn::normal(3, 0.1), shape).first, 3));
  CHECK(near(moments(nn::truncated_normal(0, 1), shape).second, 0.8796));
  for (const std::vector<int64_t>& of : {std::vector<int64_t>{8, 5}, {5, 8}}) {
    const Tensor q = nn::orthogonal()(Key(2), of);
    const Tensor square =
        of[0] < of[1] ? q.matmul(q.matrix_transpose()) : q.matrix_transpose().matmul(q);
    CHECK((square - eye(5)).abs().max().item<float>() < 1e-5f);
  }
  refuses([] { nn::xavier_normal()(Key(1), {3}); },
          "[nn.xavier_normal] expected a shape of rank 2 or more, got [3]");
}

TEST_CASE("rates follow their formulas") {
  const auto at = [](const nn::Rate& rate, double step) {
    return rate(full({}, step)).item<float>();
  };
  const auto near = [](float a, double b) { return std::abs(a - b) < 1e-6 * std::abs(b) + 1e-9; };
  const nn::Rate cosine = nn::warmup_cosine(1, 10, 30, 0.1);
  CHECK(near(at(cosine, 0), 0));
  CHECK(near(at(cosine, 5), 0.5));
  CHECK(near(at(cosine, 10), 1));
  CHECK(near(at(cosine, 20), 0.55));
  CHECK(near(at(cosine, 30), 0.1));
  CHECK(near(at(cosine, 99), 0.1));
  CHECK(near(at(nn::linear(1, 0, 4), 3), 0.25));
  CHECK(near(at(nn::exponential_decay(1, 0.5, 10), 5), std::sqrt(0.5)));
  CHECK(near(at(nn::exponential_decay(1, 0.5, 10, true), 19), 0.5));
  const nn::Rate stairs = nn::piecewise({3, 6}, {1, 0.5, 0.25});
  CHECK(near(at(stairs, 2), 1));
  CHECK(near(at(stairs, 3), 0.5));
  CHECK(near(at(stairs, 6), 0.25));
  CHECK(near(at(nn::inverse_sqrt(1, 4), 3), 1));
  CHECK(near(at(nn::inverse_sqrt(1, 4), 15), 0.5));
  refuses([] { nn::warmup_cosine(1, 10, 10); },
          "[nn.warmup_cosine] expected 0 <= warmup < steps, got 10 and 10");
  refuses(
      [] {
        nn::piecewise({3, 3}, {1, 2, 3});
      },
      "[nn.piecewise] expected steps in order, got 3 and 3");
}

TEST_CASE("a layer that no input could be given to is refused when it is made") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<std::function<void()>, const char*> rows[] = {
      {[] { nn::Conv2d(1, 1, 3, {.stride = 0}); },
       "[nn.conv] expected strides and dilations above"},
      {[] { nn::Conv2d(1, 1, 3, {.dilation = 0}); }, "[nn.conv] expected strides and dilations"},
      {[] { nn::Conv1d(1, 1, 3, {.padding = -1}); }, "paddings of 0 or more, got 1, 1 and -1"},
      {[] { nn::Conv3d(1, 1, 0); }, "[nn.conv] expected windows above 0, got 0"},
      {[] { nn::ConvTranspose2d(1, 1, 3, {.stride = -1}); },
       "[nn.conv_transpose] expected strides"},
      {[] { nn::MaxPool2d(0); }, "[nn.max_pool] expected windows, strides and dilations above 0"},
      {[] {
         nn::MaxPool2d(2, {.strides = {0, 1}});
       },
       "[nn.max_pool] expected windows, strides"},
      {[] { nn::AvgPool1d(2, {.padding = {2}}); }, "[nn.avg_pool] expected a padding of 0 to half"},
      {[] { nn::AvgPool2d(2, {.strides = {1}}); },
       "[nn.avg_pool] expected an option for each of 2"},
      {[] { nn::FractionalMaxPool2d(2, 0); }, "[nn.fractional_max_pool] expected windows"},
      {[] { nn::PixelShuffle(0); }, "[nn.pixel_shuffle] expected a factor in [1, 2^15), got 0"},
      {[] { nn::PixelUnshuffle(-2); }, "[nn.pixel_unshuffle] expected a factor in [1, 2^15), got"},
      {[] { nn::Upsample(0); }, "[nn.upsample] expected a factor above 0, got 0"},
      {[=] { nn::LayerNorm({2}, {.epsilon = nan}); },
       "[nn.layer_norm] expected epsilon in [0, inf)"},
      {[=] { nn::RMSNorm(2, {.epsilon = -1}); }, "[nn.rms_norm] expected epsilon in [0, inf)"},
      {[=] { nn::GroupNorm(1, 2, {.epsilon = nan}); },
       "[nn.group_norm] expected epsilon in [0, inf)"},
      {[=] { nn::BatchNorm(2, {.epsilon = nan}); }, "[nn.batch_norm] expected epsilon in [0, inf)"},
      {[=] { nn::BatchNorm(2, {.momentum = nan}); }, "[nn.batch_norm] expected momentum in [0, 1]"},
      {[] { nn::BatchNorm(0); }, "[nn.batch_norm] expected channels above 0, got 0"},
      {[=] { nn::MultiHeadAttention(4, 2, {.dropout = nan}); }, "[nn.dropout] expected a rate in"},
      {[=] { nn::LSTM(4, 2, {.dropout = 1}); }, "[nn.dropout] expected a rate in [0, 1), got 1"},
      {[] { nn::Linear(0, 1); }, "[nn.linear] expected sizes above 0, got 0 and 1"},
  };
  for (const auto& [make, words] : rows) {
    CAPTURE(words);
    refuses(make, words);
  }
}

}  // namespace tenon::test
