// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/checkpoint.hpp"

#include "tenon/make.hpp"

#include <fmt/ranges.h>

#include <set>

#include "core/support/error.hpp"
#include "frontend/nn/names.hpp"

namespace tenon::nn::fields {
namespace {

std::string type(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", dtype_name(dtype), fmt::join(shape, ", "));
}

/// The first few of a list.
std::string some(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const size_t shown = std::min<size_t>(names.size(), 20);
  return fmt::format("; {}: {}{}", what,
                     fmt::join(names.begin(), names.begin() + static_cast<int64_t>(shown), ", "),
                     shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
}

}  // namespace

std::vector<Kept> kept(const std::vector<Named>& tensors) {
  tell_names(tensors);
  std::vector<Kept> out;
  for (const Named& named : tensors) {
    if (named.parameter)
      out.push_back({named.name, named.tensor, named.parameter->declared->dtype,
                     named.parameter->declared->shape});
    else
      out.push_back({named.name, named.tensor, named.tensor->dtype(), named.tensor->shape()});
  }
  return out;
}

std::vector<Kept> kept(const std::vector<Named>& tensors, const Optimizer& optimizer,
                       const std::vector<Named>& learned, OptimizerState& state) {
  std::vector<Kept> out = kept(tensors);
  for (const NamedState& named : optimizer.named(learned, state))
    out.push_back(
        {"optimizer." + named.name, named.tensor, named.tensor->dtype(), named.tensor->shape()});
  return out;
}

void save(const std::string& path, const std::vector<Kept>& tensors,
          const formats::Metadata& metadata) {
  formats::NamedTensors named;
  for (const Kept& one : tensors) named.emplace_back(one.name, *one.tensor);
  formats::write_safetensors(path, named, metadata);
}

formats::Metadata load(const std::string& path, const std::vector<Kept>& tensors,
                       Context& context) {
  const formats::SafetensorsFile file(path);
  std::vector<std::string> missing, others, differ;
  std::set<std::string> wanted;
  for (const Kept& one : tensors) {
    TN_REQUIRE(wanted.insert(one.name).second,
               "[nn.load] expected a model whose tensors have names of their own, got {} twice",
               one.name);
    const formats::TensorInfo* const info = file.find(one.name);
    if (!info)
      missing.push_back(one.name);
    else if (info->dtype != one.dtype || info->shape != one.shape)
      differ.push_back(fmt::format("{} (expected {}, got {})", one.name, type(one.dtype, one.shape),
                                   type(info->dtype, info->shape)));
  }
  for (const formats::TensorInfo& info : file.tensors())
    if (!wanted.contains(info.name)) others.push_back(info.name);
  TN_REQUIRE(missing.empty() && others.empty() && differ.empty(),
             "[nn.load] expected {} to hold the tensors of this model, got another's{}{}{}", path,
             some("missing", missing), some("not in the model", others),
             some("of other types", differ));
  std::vector<Tensor> values;
  for (const Kept& one : tensors) values.push_back(tensor(file.read(one.name), context));
  for (size_t i = 0; i < tensors.size(); ++i) *tensors[i].tensor = values[i];
  return file.metadata();
}

}  // namespace tenon::nn::fields
