// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What another program needs to make the same steps: tests/bench/peers/losses.py does in PyTorch.
#pragma once

#include <tenon/formats/safetensors.hpp>
#include <tenon/nn/nn.hpp>

#include <functional>

#include "options.hpp"

/// On request writes the first values of a model, "model.fc1.weight", and what each step draws from
/// its key, "7.images". `key` is that of train::Options.
template <class Model>
void record(const Options& options, Model& model, tenon::Key key,
            const std::function<tenon::formats::NamedTensors(const tenon::Key&)>& drawn) {
  if (options.record.empty()) return;
  tenon::formats::NamedTensors all;
  for (const tenon::nn::Named& named : tenon::nn::tensors(model))
    all.emplace_back("model." + named.name, *named.tensor);
  for (int64_t i = 0; i < options.steps; ++i) {
    const std::vector<tenon::Key> keys = key.split();
    key = keys[0];
    for (const auto& [name, tensor] : drawn(keys[1]))
      all.emplace_back(std::to_string(i) + "." + name, tenon::contiguous(tensor));
  }
  tenon::formats::write_safetensors(options.record, all);
}
