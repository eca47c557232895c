// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of a layer say which one of its model it is.
#pragma once

#include <optional>
#include <string>

#include "core/support/error.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// What `f` returns. An error gets the path of the layer that `own`, a tensor of it, is in, as
/// "encoder.fc1"; none where that is not known, or where a layer inside has said its own.
template <class F>
auto in_layer(const Parameter* own, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    const std::string name = own ? own->declared->name : "", text = error.what();
    const std::string path = name.substr(0, name.rfind('.'));
    if (path == name || text.find(" in layer " + path) != std::string::npos) throw;
    fail(error.kind(), "{}, in layer {}", text, path);
  }
}
template <class F>
auto in_layer(const Parameter& own, const F& f) {
  return in_layer(&own, f);
}
template <class F>
auto in_layer(const std::optional<Parameter>& own, const F& f) {
  return in_layer(own ? &*own : nullptr, f);
}

}  // namespace tenon::nn
