// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random tensors of a seed: bits by threefry from (seed, position), so the same on every device and
// in any order.
#include <numbers>

#include "frontend/tensor/state.hpp"
#include "frontend/tensor/threefry.hpp"

namespace tenon {

namespace {

struct RandomPair {
  Tensor first, second;  ///< f32 in [0, 1)
};

RandomPair uniform_pair(const char* op, const std::vector<int64_t>& shape, uint64_t seed,
                        Context& context) {
  Builder& builder = builder_of(context);
  const Shape flat{Dim(count_of(op, shape))};
  const NodeRef position = builder.index(0, flat);
  const NodeRef shift = builder.constant(Scalar::of_int(DType::kI64, 32), flat);
  const auto bits =
      threefry2x32(builder, builder.cast(position, DType::kU32),
                   builder.cast(builder.binary(Op::SHR, position, shift), DType::kU32),
                   static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  // The upper 24 bits are exact in f32.
  const auto uniform = [&](const NodeRef& word) {
    const NodeRef eight = builder.constant(Scalar::of_int(DType::kU32, 8), flat);
    const NodeRef scale = builder.constant(Scalar::of(DType::kF32, 0x1p-24), flat);
    const NodeRef value = builder.cast(builder.binary(Op::SHR, word, eight), DType::kF32);
    return make_tensor(context, builder.binary(Op::MUL, value, scale)).reshape(shape);
  };
  return {uniform(bits.first), uniform(bits.second)};
}

}  // namespace

Tensor Tensor::rand(std::vector<int64_t> shape, uint64_t seed, Context& context) {
  return uniform_pair("rand", shape, seed, context).first;
}

Tensor Tensor::randn(std::vector<int64_t> shape, uint64_t seed, Context& context) {
  // Box and Muller, 1958; 1 - u is in (0, 1], so the logarithm is finite
  const RandomPair u = uniform_pair("randn", shape, seed, context);
  const Tensor radius = ((1.0f - u.first).log() * -2.0f).sqrt();
  return radius * (u.second * static_cast<float>(2 * std::numbers::pi)).cos();
}

}  // namespace tenon
