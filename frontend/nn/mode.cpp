// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/mode.hpp"

#include "core/support/error.hpp"

namespace tenon::nn {

Mode Mode::training(const Key& key) {
  Mode mode = training();
  mode.rest_ = std::make_shared<Key>(key);
  return mode;
}

Mode Mode::training() {
  Mode mode;
  mode.is_training_ = true;
  return mode;
}

Key Mode::key(const char* layer) const {
  TN_REQUIRE(rest_, "[{}] expected a Mode with a key to draw from, got one without", layer);
  const std::vector<Key> keys = rest_->split(2);
  *rest_ = keys[1];
  return keys[0];
}

}  // namespace tenon::nn
