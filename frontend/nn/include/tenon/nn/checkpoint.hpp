// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models, and optimizers beside them, as safetensors files: written as a whole or not at all, and
// read into a model that they fit, or not at all.
#pragma once

#include <string>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/formats/safetensors.hpp"
#include "tenon/nn/module.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::nn {

namespace fields {

/// A tensor of a checkpoint, and what it has to be.
struct Kept {
  std::string name;
  Tensor* tensor;
  DType dtype;
  std::vector<int64_t> shape;
};
TENON_API std::vector<Kept> kept(const std::vector<Named>& tensors);
TENON_API std::vector<Kept> kept(const std::vector<Named>& tensors, const Optimizer& optimizer,
                                 const std::vector<Named>& learned, OptimizerState& state);
TENON_API void save(const std::string& path, const std::vector<Kept>& tensors,
                    const formats::Metadata& metadata);
TENON_API formats::Metadata load(const std::string& path, const std::vector<Kept>& tensors,
                                 Context& context);

}  // namespace fields

/// All tensors of a model under their names. Throws as formats::write_safetensors does; what was at
/// the path stays then.
template <Module M>
void save(const std::string& path, M& model, const formats::Metadata& metadata = {}) {
  fields::save(path, fields::kept(tensors(model)), metadata);
}
/// The same with an optimizer's state, as "optimizer.adam.mean.fc1.weight".
template <Module M>
void save(const std::string& path, M& model, const Optimizer& optimizer, OptimizerState& state,
          const formats::Metadata& metadata = {}) {
  fields::save(path, fields::kept(tensors(model), optimizer, learned(model), state), metadata);
}

/// Into a model that has the same tensors; it need not be initialised. Throws kInvalid with all
/// names that are missing, that the model has not, and whose types differ; the model is as it was
/// then. Returns the file's metadata.
template <Module M>
formats::Metadata load(const std::string& path, M& model, Context& context = Context::standard()) {
  return fields::load(path, fields::kept(tensors(model)), context);
}
/// The same with the state, which optimizer.init made.
template <Module M>
formats::Metadata load(const std::string& path, M& model, const Optimizer& optimizer,
                       OptimizerState& state, Context& context = Context::standard()) {
  return fields::load(path, fields::kept(tensors(model), optimizer, learned(model), state),
                      context);
}

}  // namespace tenon::nn
