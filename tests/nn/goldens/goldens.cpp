// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers, losses and optimizers, and their gradients, against PyTorch's.
#include <cmath>
#include <functional>
#include <set>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/nn/goldens/case.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

/// What has no state.
struct Nothing {
  auto fields() { return std::tie(); }
};
template <class F>
Tensors run_function(Given& given, const F& f) {
  return run(given, Nothing(), [&](Nothing&, const Tensors& x, const Mode&) { return f(x.at(0)); });
}

template <int N>
Tensors run_conv(Given& g) {
  const std::map<std::string, nn::Padding> modes{{"zeros", nn::Padding::kZeros},
                                                 {"reflect", nn::Padding::kReflect},
                                                 {"replicate", nn::Padding::kReplicate},
                                                 {"circular", nn::Padding::kCircular}};
  return run(g, nn::Conv<N>(g.integer("of"), g.integer("to"), g.each<N>("window"),
                            {.stride = g.each<N>("stride"),
                             .padding = g.each<N>("padding"),
                             .dilation = g.each<N>("dilation"),
                             .groups = g.integer("groups"),
                             .bias = g.flag("bias"),
                             .padding_mode = modes.at(g.call.word("mode"))}));
}

template <int N>
Tensors run_conv_transpose(Given& g) {
  return run(g, nn::ConvTranspose<N>(g.integer("of"), g.integer("to"), g.each<N>("window"),
                                     {.stride = g.each<N>("stride"),
                                      .padding = g.each<N>("padding"),
                                      .output_padding = g.each<N>("output_padding"),
                                      .dilation = g.each<N>("dilation"),
                                      .groups = g.integer("groups")}));
}

nn::PoolOptions pool_options(const Given& g) {
  nn::PoolOptions options;
  options.strides = g.call.integers("strides");
  if (g.call.has("padding")) options.padding = g.call.integers("padding");
  return options;
}

nn::InterpolateOptions interpolation(const Given& g) {
  return {g.flag("linear") ? nn::Interpolation::kLinear : nn::Interpolation::kNearest,
          g.flag("corners")};
}

const std::map<std::string, std::function<Tensors(Given&)>> kLayers{
    {"linear",
     [](Given& g) {
       return run(g, nn::Linear(g.integer("of"), g.integer("to"), {.bias = g.flag("bias")}));
     }},
    {"bilinear",
     [](Given& g) {
       return run(g, nn::Bilinear(g.integer("n"), g.integer("m"), g.integer("to")),
                  [](nn::Bilinear& used, const Tensors& x, const Mode&) {
                    return used(x.at(0), x.at(1));
                  });
     }},
    {"embedding",
     [](Given& g) {
       std::optional<int64_t> padding;
       if (g.integer("padding") >= 0) padding = g.integer("padding");
       return run(g, nn::Embedding(g.integer("count"), g.integer("size"), {.padding = padding}));
     }},
    {"conv1d", run_conv<1>},
    {"conv2d", run_conv<2>},
    {"conv3d", run_conv<3>},
    {"conv_transpose1d", run_conv_transpose<1>},
    {"conv_transpose2d", run_conv_transpose<2>},
    {"conv_transpose3d", run_conv_transpose<3>},
    {"layer_norm",
     [](Given& g) {
       return run(g, nn::LayerNorm(g.call.integers("shape"),
                                   {.weight = g.flag("affine"), .bias = g.flag("affine")}));
     }},
    {"rms_norm", [](Given& g) { return run(g, nn::RMSNorm(g.integer("size"))); }},
    {"group_norm",
     [](Given& g) { return run(g, nn::GroupNorm(g.integer("groups"), g.integer("channels"))); }},
    {"instance_norm", [](Given& g) { return run(g, nn::InstanceNorm(g.integer("channels"))); }},
    {"batch_norm", [](Given& g) { return run(g, nn::BatchNorm(g.integer("channels"))); }},
    {"max_pool",
     [](Given& g) {
       return run_function(g, [&](const Tensor& x) {
         return nn::max_pool(x, g.call.integers("window"), pool_options(g));
       });
     }},
    {"avg_pool",
     [](Given& g) {
       return run_function(g, [&](const Tensor& x) {
         return nn::avg_pool(x, g.call.integers("window"), pool_options(g),
                             g.flag("count_padding"));
       });
     }},
    {"lp_pool",
     [](Given& g) {
       return run_function(g, [&](const Tensor& x) {
         return nn::lp_pool(x, g.call.real("p"), g.call.integers("window"), pool_options(g));
       });
     }},
    {"adaptive_avg_pool",
     [](Given& g) {
       return run_function(
           g, [&](const Tensor& x) { return nn::adaptive_avg_pool(x, g.call.integers("sizes")); });
     }},
    {"adaptive_max_pool",
     [](Given& g) {
       return run_function(
           g, [&](const Tensor& x) { return nn::adaptive_max_pool(x, g.call.integers("sizes")); });
     }},
    {"multi_head_attention",
     [](Given& g) {
       return run(g, nn::MultiHeadAttention(g.integer("width"), g.integer("heads"),
                                            {.causal = g.flag("causal")}));
     }},
    {"attention",
     [](Given& g) {
       return run(g, Nothing(), [&](Nothing&, const Tensors& x, const Mode&) {
         return nn::attention(x.at(0), x.at(1), x.at(2),
                              {.causal = g.flag("causal"), .window = g.integer("window")});
       });
     }},
    {"rotary",
     [](Given& g) {
       return run_function(g, [&](const Tensor& x) {
         return nn::rotary(x, g.integer("first"), 10000, g.flag("interleaved"));
       });
     }},
    {"interpolate",
     [](Given& g) {
       return run_function(g, [&](const Tensor& x) {
         return nn::interpolate(x, g.call.integers("sizes"), interpolation(g));
       });
     }},
    {"upsample",
     [](Given& g) { return run(g, nn::Upsample(g.integer("factor"), interpolation(g))); }},
    {"pixel_shuffle", [](Given& g) { return run(g, nn::PixelShuffle(g.integer("factor"))); }},
    {"pixel_unshuffle", [](Given& g) { return run(g, nn::PixelUnshuffle(g.integer("factor"))); }},
    {"fractional_max_pool",
     [](Given& g) {
       return run(g, Nothing(), [&](Nothing&, const Tensors& x, const Mode&) {
         return nn::fractional_max_pool(x.at(0), g.call.integers("window"),
                                        g.call.integers("sizes"),
                                        x.at(1).astype(DType::kF32) / 1024);
       });
     }},
    {"normalised_adjacency", [](Given& g) { return run_function(g, nn::normalised_adjacency); }},
    {"gcn_conv",
     [](Given& g) {
       return run(
           g, nn::GCNConv(g.integer("of"), g.integer("to"), {.bias = g.flag("bias")}),
           [](nn::GCNConv& used, const Tensors& x, const Mode&) { return used(x.at(0), x.at(1)); });
     }},
    {"gat_conv",
     [](Given& g) {
       return run(g,
                  nn::GATConv(g.integer("of"), g.integer("to"),
                              {.heads = g.integer("heads"), .concat = g.flag("concat")}),
                  [](nn::GATConv& used, const Tensors& x, const Mode& mode) {
                    return used(x.at(0), x.at(1), mode);
                  });
     }},
    {"sequential",
     [](Given& g) {
       return run(g, nn::Sequential(nn::Linear(4, 6), nn::Tanh(), nn::Linear(6, 2)));
     }},
};

nn::Reduction reduction_of(const Call& c) {
  if (c.word("reduction") == "sum") return nn::Reduction::kSum;
  return c.word("reduction") == "none" ? nn::Reduction::kNone : nn::Reduction::kMean;
}

std::optional<Tensor> third(const Tensors& x) {
  return x.size() > 2 ? std::optional(x[2]) : std::nullopt;
}

using LossOf = std::function<Tensor(const Tensors&, const Call&)>;
const std::map<std::string, LossOf> kLosses{
    {"l1",
     [](const Tensors& x, const Call& c) { return nn::l1_loss(x[0], x[1], reduction_of(c)); }},
    {"mse",
     [](const Tensors& x, const Call& c) { return nn::mse_loss(x[0], x[1], reduction_of(c)); }},
    {"huber",
     [](const Tensors& x, const Call& c) {
       return nn::huber_loss(x[0], x[1], c.real("delta"), reduction_of(c));
     }},
    {"smooth_l1",
     [](const Tensors& x, const Call& c) {
       return nn::smooth_l1_loss(x[0], x[1], c.real("beta"), reduction_of(c));
     }},
    {"cross_entropy",
     [](const Tensors& x, const Call& c) {
       return nn::cross_entropy(
           x[0], x[1],
           {.weight = third(x), .smoothing = c.real("smoothing"), .reduction = reduction_of(c)});
     }},
    {"nll", [](const Tensors& x,
               const Call& c) { return nn::nll_loss(x[0], x[1], {.reduction = reduction_of(c)}); }},
    {"kl", [](const Tensors& x,
              const Call& c) { return nn::kl_divergence(x[0], x[1], reduction_of(c)); }},
    {"bce", [](const Tensors& x,
               const Call& c) { return nn::binary_cross_entropy(x[0], x[1], reduction_of(c)); }},
    {"bce_logits",
     [](const Tensors& x, const Call& c) {
       return nn::binary_cross_entropy_with_logits(x[0], x[1], third(x), reduction_of(c));
     }},
    {"ctc",
     [](const Tensors& x, const Call& c) {
       return nn::ctc_loss(log_softmax(x[0], {2}), x[1], x[2], x[3],
                           {.blank = c.integer("blank"),
                            .zero_infinity = c.integer("zero_infinity") != 0,
                            .reduction = reduction_of(c)});
     }},
    {"cosine_embedding",
     [](const Tensors& x, const Call& c) {
       return nn::cosine_embedding_loss(x[0], x[1], x[2], c.real("margin"), reduction_of(c));
     }},
    {"triplet",
     [](const Tensors& x, const Call& c) {
       return nn::triplet_margin_loss(x[0], x[1], x[2], c.real("margin"), reduction_of(c));
     }},
};

struct Two {
  nn::Parameter a, b;
  TENON_FIELDS(a, b)
};

/// Of gradients of which one element is infinite in every seventh step.
nn::Optimizer spoiled(const nn::Optimizer& inner) {
  std::vector<nn::Piece> pieces{
      {"spoil", {nn::count_slot()}, [](nn::Update& of) {
         Tensor& count = of.slots[0][0];
         count = count + 1;
         Tensor& u = of.updates[0];
         const Tensor is_first =
             (arange(u.size(), DType::kI64, u.context()) == 0).reshape(u.sizes());
         u = where(is_first & (count - (count / 7).floor() * 7 == 0),
                   std::numeric_limits<double>::infinity(), u);
       }}};
  pieces.insert(pieces.end(), inner.pieces().begin(), inner.pieces().end());
  return {pieces};
}

const std::map<std::string, nn::Optimizer> kOptimizers{
    {"sgd", nn::sgd({.learning_rate = 0.05})},
    {"sgd_momentum", nn::sgd({.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01})},
    {"sgd_nesterov", nn::sgd({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true})},
    {"adam", nn::adam({.learning_rate = 0.01})},
    {"adamw", nn::adamw({.learning_rate = 0.01, .weight_decay = 0.1})},
    {"rmsprop", nn::rmsprop({.learning_rate = 0.01})},
    {"rmsprop_momentum", nn::rmsprop({.learning_rate = 0.01, .momentum = 0.5})},
    {"adagrad", nn::adagrad({.learning_rate = 0.05})},
    {"adafactor", nn::adafactor({.learning_rate = 0.05, .weight_decay = 0.1})},
    {"lion", nn::lion({.learning_rate = 1e-4, .weight_decay = 0.1})},
    {"lamb", nn::lamb({.learning_rate = 1e-2, .weight_decay = 0.05})},
    {"muon", nn::muon({.learning_rate = 0.02})},
    {"clipped", nn::chain({nn::clip_by_global_norm(0.5), nn::scale_by_learning_rate(0.1)})},
    {"scheduled", nn::sgd({.learning_rate = nn::warmup_cosine(0.1, 10, 80, 0.01)})},
    {"accumulated", nn::multi_steps(nn::adamw({.learning_rate = 0.01, .weight_decay = 0.1}), 3)},
    {"with_mean", nn::chain({nn::sgd({.learning_rate = 0.05}), nn::ema(0.9)})},
    {"loss_scaled", spoiled(nn::scale_loss(nn::sgd({.learning_rate = 0.05, .momentum = 0.9}),
                                           {.begin = 8, .interval = 4}))},
    {"partitioned", nn::partition([](const nn::Named& w) { return w.tensor->rank() == 2; },
                                  nn::muon({.learning_rate = 0.02}),
                                  nn::adamw({.learning_rate = 0.01, .weight_decay = 0.1}))},
};

}  // namespace

TEST_CASE("layers and their gradients are those of PyTorch") {
  on_each_device([](Context& context) {
    std::set<std::string> seen;
    for (const Case& test : read_cases("nn/goldens/layers")) {
      INFO("layers.txt:" << test.line << ": " << test.function);
      seen.insert(test.function);
      Given given{test, {context, tensors_of(test.inputs, context), test.attributes}};
      const Tensors results = kLayers.at(test.function)(given);
      REQUIRE(results.size() == test.outputs.size());
      realize(results);
      for (size_t i = 0; i < results.size(); ++i) {
        INFO("result " << i);
        check_close(results[i].to_array(), test.outputs[i], 1e-5);
      }
    }
    CHECK(seen.size() == kLayers.size());
  });
}

TEST_CASE("losses and their gradients are those of PyTorch") {
  on_each_device([](Context& context) {
    std::set<std::string> seen;
    for (const Case& test : read_cases("nn/goldens/losses")) {
      INFO("losses.txt:" << test.line << ": " << test.function);
      seen.insert(test.function);
      const Call call{context, tensors_of(test.inputs, context), test.attributes};
      Tensors x = call.in;
      Tensor loss = 0.0;
      const ValueAndGrad found = value_and_grad([&](const Tensors& values) {
        x[0] = values[0];
        loss = kLosses.at(test.function)(x, call);
        return weigh(loss);
      })({x[0]});
      check_close(loss.to_array(), test.outputs.at(0), 1e-5);
      check_close(found.gradients[0].to_array(), test.outputs.at(1), 1e-5);
    }
    CHECK(seen.size() == kLosses.size());
  });
}

TEST_CASE("a hundred steps of each optimizer are those of PyTorch, or of its formula") {
  on_each_device([](Context& context) {
    Tensors gradients;
    std::set<std::string> seen;
    for (const Case& test : read_cases("nn/goldens/optimizers")) {
      INFO("optimizers.txt:" << test.line << ": " << test.function);
      if (test.function == "lbfgs") continue;
      seen.insert(test.function);
      const Tensors in = tensors_of(test.inputs, context);
      if (in.size() > 2) gradients = {in[2], in[3]};
      const nn::Optimizer& optimizer = kOptimizers.at(test.function);
      Two model{in[0], in[1]};
      nn::OptimizerState state = optimizer.init(model);
      const auto step = compile([&](Two m, nn::OptimizerState s, Tensor a, Tensor b) {
        optimizer.update(m, {a, b}, s);
        return std::pair(m, s);
      });
      size_t next = 0;
      for (int64_t i = 0; i < 100; ++i) {
        const Tensor at = tensor<int64_t>({i}, context);
        std::tie(model, state) = step(model, state, gradients[0].take(at, 0).squeeze(0),
                                      gradients[1].take(at, 0).squeeze(0));
        if (i != 0 && i != 9 && i != 99) continue;
        INFO("after step " << i + 1);
        const Two shown =
            test.function == "with_mean" ? nn::averaged(model, optimizer, state) : model;
        check_close(shown.a.to_array(), test.outputs.at(next++), 1e-5);
        check_close(shown.b.to_array(), test.outputs.at(next++), 1e-5);
      }
      CHECK(step.traces() == 1);
    }
    CHECK(seen.size() == kOptimizers.size());
  });
}

TEST_CASE("a hundred steps of L-BFGS down one function are those of PyTorch") {
  on_each_device([](Context& context) {
    int seen = 0;
    for (const Case& test : read_cases("nn/goldens/optimizers")) {
      INFO("optimizers.txt:" << test.line << ": " << test.function);
      if (test.function != "lbfgs") continue;
      const Call call{context, tensors_of(test.inputs, context), test.attributes};
      const nn::Optimizer optimizer =
          nn::lbfgs({.learning_rate = call.real("rate"), .history_size = call.integer("history")});
      Two model{call.in[0], call.in[1]};
      nn::OptimizerState state = optimizer.init(model);
      const auto step = compile([&](Two m, nn::OptimizerState s, Tensors in) {
        const auto found = nn::value_and_grad(m, [&](Two& used) {
          const auto part = [&](const Tensor& w, const Tensor& at, const Tensor& k) {
            const Tensor square = (w - at).square();
            return (k * square / 2 + square.square() / 4).sum();
          };
          return part(used.a, in[2], in[4]) + part(used.b, in[3], in[5]);
        });
        optimizer.update(m, found.gradients, s);
        return std::pair(m, s);
      });
      size_t next = 0;
      for (int i = 0; i < 100; ++i) {
        std::tie(model, state) = step(model, state, call.in);
        if (i != 0 && i != 9 && i != 99) continue;
        INFO("after step " << i + 1);
        check_close(model.a.to_array(), test.outputs.at(next++), 1e-5);
        check_close(model.b.to_array(), test.outputs.at(next++), 1e-5);
      }
      ++seen;
    }
    CHECK(seen == 2);
  });
}

}  // namespace tenon::test
