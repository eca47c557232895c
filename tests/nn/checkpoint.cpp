// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checkpoints: what was saved goes on as if nothing had happened, and another model's is refused.
#include <filesystem>

#include "tenon/nn/checkpoint.hpp"
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

struct CheckpointNet {
  explicit CheckpointNet(int64_t width = 4) : fc1(3, width), bn(width), fc2(width, 2) {}
  nn::Linear fc1;
  nn::BatchNorm bn;
  nn::Linear fc2;
  TENON_FIELDS(fc1, bn, fc2)
  Tensor operator()(const Tensor& x, const nn::Mode& mode) { return fc2(bn(fc1(x), mode)); }
};

/// A folder of this test alone.
struct Folder {
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "tenon-checkpoint-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

struct Run {
  explicit Run(Context& context) : x(normal(Key(5, context), {8, 3})) {}
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      const auto [loss, gradients] = nn::value_and_grad(
          net, [&](CheckpointNet& m) { return m(x, nn::Mode::training()).square().mean(); });
      optimizer.update(net, gradients, state);
      nn::realize(net, state);
    }
  }
  std::vector<float> weights() {
    std::vector<float> out;
    for (const nn::Named& named : nn::tensors(net))
      for (const float value : named.tensor->astype(DType::kF32).to_vector<float>())
        out.push_back(value);
    return out;
  }
  Tensor x;
  CheckpointNet net;
  nn::Optimizer optimizer = nn::adamw({.learning_rate = nn::warmup_cosine(0.01, 3, 20)});
  nn::OptimizerState state;
};

}  // namespace

TEST_CASE("learning that was stopped and loaded goes on bit for bit") {
  on_each_device([](Context& context) {
    const Folder folder;
    const std::string path = folder.path / "step5.safetensors";
    Run whole(context), stopped(context), resumed(context);
    for (Run* run : {&whole, &stopped}) {
      run->net = nn::init(CheckpointNet(), Key(1, context));
      run->state = run->optimizer.init(run->net);
    }
    whole.steps(9);
    stopped.steps(5);
    nn::save(path, stopped.net, stopped.optimizer, stopped.state, {{"step", "5"}});
    resumed.net = nn::init(CheckpointNet(), Key(2, context));
    resumed.state = resumed.optimizer.init(resumed.net);
    const formats::Metadata said =
        nn::load(path, resumed.net, resumed.optimizer, resumed.state, context);
    CHECK(said.at("step") == "5");
    resumed.steps(4);
    CHECK(resumed.weights() == whole.weights());
  });
}

TEST_CASE("a checkpoint of another model is refused with all that differs, and changes nothing") {
  on_each_device([](Context& context) {
    const Folder folder;
    const std::string path = folder.path / "model.safetensors";
    CheckpointNet net = nn::init(CheckpointNet(), Key(1, context)),
                  wide = nn::init(CheckpointNet(6), Key(1, context));
    nn::save(path, net);
    const auto before = wide.fc1.bias->to_vector<float>();
    CHECK_THROWS_WITH(
        nn::load(path, wide, context),
        ContainsSubstring(
            "of other types: fc1.weight (expected f32[6, 3], got f32[4, 3]), fc1.bias") &&
            ContainsSubstring(path));
    CHECK(wide.fc1.bias->to_vector<float>() == before);
    struct Other {
      nn::Linear fc1{3, 4}, fc3{4, 2};
      TENON_FIELDS(fc1, fc3)
    } other;
    CHECK_THROWS_WITH(
        nn::load(path, other, context),
        ContainsSubstring("missing: fc3.weight, fc3.bias; not in the model: bn.weight, bn.bias") &&
            ContainsSubstring("fc2.weight, fc2.bias"));
    struct Twice {
      nn::Linear a{3, 4}, b{3, 4};
      auto fields() { return std::tie(a, b); }
      static constexpr std::string_view field_names() { return "fc1, fc1"; }
    } twice;
    CHECK_THROWS_WITH(nn::load(path, twice, context),
                      ContainsSubstring("names of their own, got fc1.weight twice"));
    CheckpointNet fresh;  // not initialised
    nn::load(path, fresh, context);
    CHECK(fresh.fc2.weight.to_vector<float>() == net.fc2.weight.to_vector<float>());
    CHECK_THROWS_WITH(nn::load(folder.path / "none", fresh, context), ContainsSubstring("none"));
    CHECK_THROWS_WITH(nn::save(folder.path / "no" / "folder", net), ContainsSubstring("folder"));
  });
}

}  // namespace tenon::test
