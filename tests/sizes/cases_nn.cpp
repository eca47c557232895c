// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers, losses and what models are made of.
#include "tenon/nn/nn.hpp"
#include "tests/sizes/case.hpp"

namespace tenon::test {
namespace {

Key layer_key(const Tensor& x) { return Key(7, x.context()); }
nn::Mode learning(const Tensor& x) { return nn::Mode::training(Key(3, x.context())); }

/// A layer's result on its first input.
template <class Layer, class... Args>
Tensor by_layer(const Tensor& x, const Args&... args) {
  Layer layer(args...);
  nn::fields::initialise(layer, layer_key(x));
  return layer(x);
}

}  // namespace

std::vector<SizeCase> nn_size_cases() {
  return {
      {"nn.windows",
       {"nch"},
       TENON_CALL(nn::windows(x[0], {3}, {1}, {1}), nn::windows(x[0], {3}, {2}, {2})),
       {},
       {{'h', 5}}},
      {"nn.conv, 1d",
       {"nch", "oc3"},
       TENON_CALL(nn::conv(x[0], x[1], {1}, {1}, 1), nn::conv(x[0], x[1], {2}, {1}, 1)),
       {{'3', "windows are made of numbers"}},
       {{'h', 3}}},
      {"nn.conv, 2d",
       {"nchw", "oc32"},
       TENON_CALL(nn::conv(x[0], x[1], {1, 1}, {1, 1}, 1), nn::conv(x[0], x[1], {2, 3}, {1, 2}, 1)),
       {},
       {{'h', 3}, {'w', 3}}},
      {"nn.conv, in groups",
       {"n4h", "623"},
       TENON_CALL(nn::conv(x[0], x[1], {1}, {1}, 2)),
       {},
       {{'h', 3}}},
      {"nn.Conv",
       {"n3hw"},
       TENON_CALL(
           by_layer<nn::Conv2d>(x[0], 3, 4, 3, nn::ConvOptions<2>{.stride = 2, .padding = 1}),
           by_layer<nn::Conv2d>(
               x[0], 3, 4, 3,
               nn::ConvOptions<2>{.padding = 1, .padding_mode = nn::Padding::kCircular})),
       {},
       {{'h', 2}, {'w', 2}}},
      {"nn.ConvTranspose",
       {"n3hw"},
       TENON_CALL(by_layer<nn::ConvTranspose2d>(
           x[0], 3, 4, 3,
           nn::ConvTransposeOptions<2>{.stride = 2, .padding = 1, .output_padding = 1}))},
      {"nn.max_pool",
       {"nchw"},
       TENON_CALL(nn::max_pool(x[0], {2, 2}),
                  nn::max_pool(x[0], {3, 2}, {.strides = {2, 1}, .padding = {1, 1}})),
       {},
       {{'h', 2}, {'w', 2}}},
      {"nn.avg_pool",
       {"nchw"},
       TENON_CALL(nn::avg_pool(x[0], {2, 2}),
                  nn::avg_pool(x[0], {3, 2}, {.strides = {2, 1}, .padding = {1, 1}}, false)),
       {},
       {{'h', 2}, {'w', 2}}},
      {"nn.lp_pool", {"nchw"}, TENON_CALL(nn::lp_pool(x[0], 2, {2, 2})), {}, {{'h', 2}, {'w', 2}}},
      {"nn.adaptive_avg_pool",
       {"nchw"},
       TENON_CALL(nn::adaptive_avg_pool(x[0], {1, 1}), nn::adaptive_avg_pool(x[0], {3, 2}))},
      {"nn.adaptive_max_pool",
       {"nchw"},
       TENON_CALL(nn::adaptive_max_pool(x[0], {1, 1}), nn::adaptive_max_pool(x[0], {3, 2}))},
      {"nn.fractional_max_pool",
       {"nch", "1"},
       TENON_CALL(nn::fractional_max_pool(x[0], {2}, {3}, x[1] * 0.05 + 0.5)),
       {},
       {{'h', 4}}},
      {"nn.attention",
       {"bhqs", "bhks", "bhkt"},
       TENON_CALL(nn::attention(x[0], x[1], x[2]),
                  nn::attention(x[0], x[1], x[2], {.causal = true, .window = 2}))},
      {"nn.attention, grouped",
       {"b4qs", "b2ks", "b2kt", "qk:bool"},
       TENON_CALL(nn::attention(x[0], x[1], x[2], {.mask = x[3]}))},
      {"nn.MultiHeadAttention",
       {"bq6", "bk6"},
       [](const Tensors& x) {
         nn::MultiHeadAttention layer(6, 2);
         nn::fields::initialise(layer, layer_key(x[0]));
         return Tensors{layer(x[0]), layer(x[0], x[1], x[1])};
       }},
      {"nn.rotary",
       {"bhq4"},
       TENON_CALL(nn::rotary(x[0]), nn::rotary(x[0], 3, 100, true)),
       {{'4', "it must be known that it is even"}}},
      {"nn.KeyValueCache",
       {"22q3"},
       [](const Tensors& x) {
         nn::KeyValueCache cache(2, 2, 50, 3, DType::kF32, x[0].context());
         cache.append(x[0], x[0] * 2);
         return Tensors{nn::attention(x[0], cache), cache.keys};
       }},
      {"nn.Linear", {"bn3"}, TENON_CALL(by_layer<nn::Linear>(x[0], 3, 4))},
      {"nn.Bilinear",
       {"n3", "n2"},
       [](const Tensors& x) {
         nn::Bilinear layer(3, 2, 4);
         nn::fields::initialise(layer, layer_key(x[0]));
         return Tensors{layer(x[0], x[1])};
       }},
      {"nn.Embedding", {"nm:i64"}, TENON_CALL(by_layer<nn::Embedding>(x[0], 5, 3))},
      {"nn.LayerNorm", {"bn3"}, TENON_CALL(by_layer<nn::LayerNorm>(x[0], std::vector<int64_t>{3}))},
      {"nn.RMSNorm", {"bn3"}, TENON_CALL(by_layer<nn::RMSNorm>(x[0], 3))},
      {"nn.GroupNorm", {"b4hw"}, TENON_CALL(by_layer<nn::GroupNorm>(x[0], 2, 4))},
      {"nn.InstanceNorm", {"b4hw"}, TENON_CALL(by_layer<nn::InstanceNorm>(x[0], 4))},
      {"nn.BatchNorm",
       {"b4h"},
       [](const Tensors& x) {
         nn::BatchNorm layer(4);
         nn::fields::initialise(layer, layer_key(x[0]));
         const Tensor learned = layer(x[0], learning(x[0]));
         return Tensors{learned, layer(x[0])};
       },
       {},
       {{'h', 2}}},
      {"nn.Dropout", {"nm"}, TENON_CALL(nn::Dropout(0.5)(x[0], learning(x[0])))},
      {"nn.RecurrentCell",
       {"b3"},
       [](const Tensors& x) {
         nn::RecurrentCell layer(nn::Recurrence::kGru, 3, 4);
         nn::fields::initialise(layer, layer_key(x[0]));
         return Tensors{layer(x[0])[0]};
       }},
      {"nn.Recurrent",
       {"tb3"},
       [](const Tensors& x) {
         nn::LSTM layer(3, 4, {.layers = 2, .bidirectional = true});
         nn::fields::initialise(layer, layer_key(x[0]));
         const nn::RecurrentResult out = layer(x[0]);
         return Tensors{out.output, out.state[1]};
       }},
      {"nn.interpolate",
       {"nchw"},
       TENON_CALL(nn::interpolate(x[0], {6, 4}),
                  nn::interpolate(x[0], {6, 4}, {nn::Interpolation::kLinear}),
                  nn::interpolate(x[0], {6, 4}, {nn::Interpolation::kLinear, true}))},
      {"nn.Upsample",
       {"nchw"},
       TENON_CALL(nn::Upsample(2)(x[0]), nn::Upsample(2, {nn::Interpolation::kLinear})(x[0]))},
      {"nn.PixelShuffle", {"n4hw"}, TENON_CALL(nn::PixelShuffle(2)(x[0]))},
      {"nn.PixelUnshuffle", {"nc46"}, TENON_CALL(nn::PixelUnshuffle(2)(x[0]))},
      {"nn.pixel_shuffle",
       {"n4hw"},
       TENON_CALL(nn::pixel_shuffle(x[0], 2)),
       {{'4', "it must be known that the square of the factor divides it"}}},
      {"nn.pixel_unshuffle",
       {"nc46"},
       TENON_CALL(nn::pixel_unshuffle(x[0], 2)),
       {{'4', "it must be known that the factor divides it"}}},
      {"nn.flatten", {"nch"}, TENON_CALL(nn::flatten(x[0]))},
      {"nn.relu", {"nm"}, TENON_CALL(nn::relu(x[0]))},
      {"nn.gelu", {"nm"}, TENON_CALL(nn::gelu(x[0]))},
      {"nn.tanh", {"nm"}, TENON_CALL(nn::tanh(x[0]))},
      {"nn.sigmoid", {"nm"}, TENON_CALL(nn::sigmoid(x[0]))},
      {"nn.adjacency",
       {"2e:i64", "e"},
       TENON_CALL(nn::adjacency(x[0], 4, true, x[1]), nn::adjacency(x[0], 4))},
      {"nn.normalised_adjacency", {"bnn"}, TENON_CALL(nn::normalised_adjacency(x[0].abs()))},
      {"nn.GCNConv",
       {"bn3", "bnn"},
       [](const Tensors& x) {
         nn::GCNConv layer(3, 4);
         nn::fields::initialise(layer, layer_key(x[0]));
         return Tensors{layer(x[0], x[1])};
       }},
      {"nn.GATConv",
       {"bn3", "bnn"},
       [](const Tensors& x) {
         nn::GATConv layer(3, 4, {.heads = 2});
         nn::fields::initialise(layer, layer_key(x[0]));
         return Tensors{layer(x[0], x[1] > 0)};
       }},
      {"nn.l1_loss", {"nm", "m"}, TENON_CALL(nn::l1_loss(x[0], x[1]))},
      {"nn.mse_loss", {"nm", "m"}, TENON_CALL(nn::mse_loss(x[0], x[1]))},
      {"nn.huber_loss", {"nm", "m"}, TENON_CALL(nn::huber_loss(x[0], x[1]))},
      {"nn.smooth_l1_loss", {"nm", "m"}, TENON_CALL(nn::smooth_l1_loss(x[0], x[1]))},
      {"nn.kl_divergence",
       {"nm", "m"},
       TENON_CALL(nn::kl_divergence(log_softmax(x[0]), x[1].softmax()))},
      {"nn.binary_cross_entropy",
       {"nm", "m"},
       TENON_CALL(nn::binary_cross_entropy(x[0].sigmoid(), x[1].sigmoid()))},
      {"nn.binary_cross_entropy_with_logits",
       {"nm", "m"},
       TENON_CALL(nn::binary_cross_entropy_with_logits(x[0], x[1].sigmoid()))},
      {"nn.hinge_loss", {"nm", "m"}, TENON_CALL(nn::hinge_loss(x[0], x[1]))},
      {"nn.cross_entropy",
       {"nch", "nh:i64"},
       TENON_CALL(nn::cross_entropy(x[0], x[1], {.smoothing = 0.1})),
       {},
       {{'c', 3}}},
      {"nn.nll_loss",
       {"nch", "nh:i64"},
       TENON_CALL(nn::nll_loss(log_softmax(x[0], 1), x[1])),
       {},
       {{'c', 3}}},
      {"nn.cosine_similarity", {"nm", "m"}, TENON_CALL(nn::cosine_similarity(x[0], x[1]))},
      {"nn.cosine_embedding_loss",
       {"nm", "nm", "n"},
       TENON_CALL(nn::cosine_embedding_loss(x[0], x[1], x[2]))},
      {"nn.triplet_margin_loss",
       {"nm", "nm", "nm"},
       TENON_CALL(nn::triplet_margin_loss(x[0], x[1] * 0.3, x[2]))},
      {"nn.ctc_loss",
       {"tnc", "nl:i64", "n:i64"},
       TENON_CALL(nn::ctc_loss(log_softmax(x[0], 2), x[1] % 2 + 1,
                               x[2] * 0 + from_size(x[0].sizes()[0], x[0].context()),
                               x[2] * 0 + 1)),
       {},
       {{'c', 3}, {'t', 2}}},
  };
}

}  // namespace tenon::test
