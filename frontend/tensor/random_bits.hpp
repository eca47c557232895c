// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws that distributions are made of. Internal to the library.
#pragma once

#include "frontend/tensor/axes.hpp"
#include "tenon/random.hpp"

namespace tenon {

/// Two u32 tensors of random bits. Draws of one key with different `stream`s below 64 are
/// independent.
struct RandomWords {
  Tensor first, second;
};
RandomWords random_words(const Key& key, const Sizes& shape, uint32_t stream = 0);

/// Uniform in [0, 1) with as many bits as the dtype has.
Tensor unit_uniform(const Key& key, const Sizes& shape, DType dtype, uint32_t stream = 0);
/// f32 or f64, mean 0 and variance 1. Takes `stream` and the next one.
Tensor unit_normal(const Key& key, const Sizes& shape, DType dtype, uint32_t stream = 0);
/// f32, -ln(-ln(u)) of u in (0, 1).
Tensor gumbel(const Key& key, const Sizes& shape, uint32_t stream = 0);

/// The shape that is asked for, or if none is that of the parameters.
Sizes drawn_shape(const char* op, const Sizes& asked, const Sizes& parameters);
/// A parameter in a dtype, in the key's context where it is a number.
Tensor beside(const Key& key, const Tensor& x, DType dtype);
/// A parameter as f32 in that shape, in the key's context.
Tensor parameter(const char* op, const Key& key, const Tensor& x, const Sizes& shape);

}  // namespace tenon
