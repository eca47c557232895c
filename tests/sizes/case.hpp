// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of public functions whose sizes may be symbols, and what docs/tensor.md says of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tenon/tenon.hpp"

namespace tenon::test {

using Tensors = std::vector<Tensor>;

/// A call, and the axes of its inputs by letters: axes of one letter have one size, which may be a
/// symbol. "n3:i64" is i64[n, 3]; without a dtype it is f32.
struct SizeCase {
  std::string name;
  std::vector<std::string> inputs;
  std::function<Tensors(const Tensors&)> call;
  /// Letters, and digits of shapes, that must be numbers, and why.
  std::map<char, std::string> numbers = {};
  /// The least size of a letter, where that is not 1.
  std::map<char, int64_t> least = {};
  /// Not where it reads values, as what has a size that depends on them does.
  bool is_traced = true;
  /// Whether the results of floats have gradients by inputs of floats.
  bool has_gradient = true;
  int64_t largest = 34;  ///< that is tried
};

/// Of Tensor's headers, and of those of nn.
std::vector<SizeCase> element_size_cases();
std::vector<SizeCase> tensor_size_cases();
std::vector<SizeCase> linalg_size_cases();
std::vector<SizeCase> nn_size_cases();

}  // namespace tenon::test

// The results of a call on x, a list of tensors.
#define TENON_CALL(...) [](const Tensors& x) { return Tensors{__VA_ARGS__}; }
