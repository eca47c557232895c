// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of tensors as graphs: called with tensors that have types but no values. Internal to
// the library.
#pragma once

#include <string>
#include <vector>

#include "frontend/tensor/state.hpp"
#include "tenon/gradient.hpp"

namespace tenon {

struct Traced {
  GraphRef body;
  std::vector<NodeRef> captured;  ///< tensors of outside: the last params of the body
};

/// Calls f once, with tensors of the types of `like`; those that `is_number` names meet others as
/// numbers do. Equal bodies are one graph. `name` is for messages. With `ahead` what is captured
/// can be computed before a call: the tensors of outside tell all sizes of it.
Traced trace(const std::string& name, const TensorFunction& f, const std::vector<NodeRef>& like,
             Context& context, const std::vector<bool>& is_number = {}, bool ahead = false);

/// Counts calls within each other.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

/// Within a function that is traced on this thread: whether any of these has no value yet because
/// it depends on the arguments.
bool depends_on_arguments(const std::vector<Tensor>& tensors);

}  // namespace tenon
