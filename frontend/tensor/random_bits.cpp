// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys, and what is drawn from them directly.
#include "frontend/tensor/random_bits.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/threefry.hpp"

namespace tenon {
namespace {

// The second counter holds the position's upper bits below bit 24, the stream from there on, and
// bit 31 where keys are split.
constexpr int kStreamBit = 24;
constexpr uint32_t kSplit = uint32_t{1} << 31;

int significant_bits(DType dtype) { return float_format(dtype).mantissa_bits + 1; }

}  // namespace

Key::Key(Host host, Context& context)
    : words_(tensor(std::vector{host.first, host.second}, {2}, context)),
      host_(host),
      used_by_(std::make_shared<std::atomic<const char*>>(nullptr)) {}

Key::Key(uint64_t seed, Context& context)
    : Key(Host{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, context) {}

Key::Key(Tensor words)
    : words_(std::move(words)), used_by_(std::make_shared<std::atomic<const char*>>(nullptr)) {
  TN_REQUIRE(words_.dtype() == DType::kU32 && words_.shape() == std::vector<int64_t>{2},
             "[key] expected u32[2], got {}[{}]", dtype_name(words_.dtype()),
             fmt::join(words_.shape(), ", "));
}

void Key::use(const char* op) const {
  const char* const before = used_by_->exchange(op);
  if (!before) return;
  TN_REQUIRE(!checked_, "[{}] expected a new key, got one that {} used: split it", op, before);
  TN_LOG("random", "[{}] expected a new key, got one that {} used: split it", op, before);
}

Key Key::checked() const {
  Key key = *this;
  key.checked_ = true;
  return key;
}

std::vector<Key> Key::split(int64_t count) const {
  TN_REQUIRE(count >= 0 && count < INT32_MAX, "[split] expected a count in [0, 2^31), got {}",
             count);
  use("split");
  std::vector<Key> keys;
  Context& context = words_.context();
  for (uint32_t i = 0; i < static_cast<uint32_t>(count); ++i) {
    if (host_) {
      const auto [first, second] = threefry2x32(i, kSplit, host_->first, host_->second);
      keys.push_back(Key(Host{first, second}, context));
    } else {
      Builder& builder = builder_of(context);
      const auto word = [&](uint32_t value) {
        return builder.constant(Scalar{DType::kU32, value});
      };
      const auto [first, second] = threefry2x32(
          builder, word(i), word(kSplit), node_of(words_.take(0, 0)), node_of(words_.take(1, 0)));
      keys.push_back(Key(concatenate({make_tensor(context, first).expand_dims(0),
                                      make_tensor(context, second).expand_dims(0)})));
    }
    keys.back().checked_ = checked_;
  }
  return keys;
}

RandomWords random_words(const Key& key, const Sizes& shape, uint32_t stream) {
  check_count("random", to_shape(shape));
  const Size count = size_of(product(to_shape(shape)));
  const Tensor position = counting(key.words(), count);
  Context& context = position.context();
  const auto word = [&](int i) {
    return node_of(key.words().slice({Slice{i, i + 1}}).broadcast_to({count}));
  };
  const Tensor low = (position & int64_t{0xFFFFFFFF}).astype(DType::kU32);
  const Tensor high = (position / (int64_t{1} << 32)).astype(DType::kU32) | (stream << kStreamBit);
  const auto bits =
      threefry2x32(builder_of(context), node_of(low), node_of(high), word(0), word(1));
  return {make_tensor(context, bits.first).reshape(shape),
          make_tensor(context, bits.second).reshape(shape)};
}

Tensor unit_uniform(const Key& key, const Sizes& shape, DType dtype, uint32_t stream) {
  const RandomWords words = random_words(key, shape, stream);
  const int bits = significant_bits(dtype);
  const double scale = std::pow(2.0, -bits);
  if (dtype == DType::kF64) {
    const Tensor all = words.first.astype(DType::kU64) * (uint64_t{1} << 21) |
                       (words.second / (uint32_t{1} << 11)).astype(DType::kU64);
    return all.astype(dtype) * scale;
  }
  const Tensor whole = (words.first / (uint32_t{1} << (32 - bits))).astype(DType::kF32);
  return rounded(whole * scale, dtype);
}

Tensor unit_normal(const Key& key, const Sizes& shape, DType dtype, uint32_t stream) {
  const Tensor radius = ((1 - unit_uniform(key, shape, dtype, stream)).log() * -2).sqrt();
  return radius * (unit_uniform(key, shape, dtype, stream + 1) * (2 * std::numbers::pi)).cos();
}

Tensor gumbel(const Key& key, const Sizes& shape, uint32_t stream) {
  // The middles of 2^23 steps: neither 0 nor 1.
  const Tensor steps =
      (random_words(key, shape, stream).first / (uint32_t{1} << 9)).astype(DType::kF32);
  const Tensor u = (steps + 0.5) * 0x1p-23;
  return -(-u.log()).log();
}

namespace {

void check_parameters(const char* op, const Shape& asked, const Shape& parameters) {
  TN_REQUIRE(broadcast_shapes(op, asked, parameters) == asked,
             "[{}] expected parameters that broadcast to {}, got {}", op, to_string(asked),
             to_string(parameters));
}

}  // namespace

Sizes drawn_shape(const char* op, const Sizes& asked, const Sizes& parameters) {
  if (asked.size() == 0) return parameters;
  check_parameters(op, to_shape(asked), to_shape(parameters));
  return asked;
}

Tensor beside(const Key& key, const Tensor& x, DType dtype) {
  const bool number = !x.state()->context.is_set();
  return number ? filled(key.words(), {}, *x.state()->number, dtype) : x.astype(dtype);
}

Tensor parameter(const char* op, const Key& key, const Tensor& x, const Sizes& shape) {
  check_parameters(op, to_shape(shape), dims_of(x));
  return beside(key, x, DType::kF32).broadcast_to(shape);
}

Tensor uniform(const Key& key, const Sizes& shape, const Tensor& low, const Tensor& high,
               DType dtype) {
  TN_REQUIRE(is_float(dtype), "[uniform] expected a float dtype, got {}", dtype_name(dtype));
  key.use("uniform");
  const Tensor from = beside(key, low, dtype), width = beside(key, high, dtype) - from;
  return unit_uniform(key, shape, dtype) * width + from;
}

Tensor randint(const Key& key, const Sizes& shape, int64_t low, int64_t high, DType dtype) {
  TN_REQUIRE(low < high, "[randint] expected low < high, got {} and {}", low, high);
  TN_REQUIRE(is_int(dtype), "[randint] expected an integer dtype, got {}", dtype_name(dtype));
  Number(low).as("randint", dtype);
  Number(high - 1).as("randint", dtype);
  key.use("randint");
  const RandomWords words = random_words(key, shape);
  const Tensor all =
      words.first.astype(DType::kU64) * (uint64_t{1} << 32) | words.second.astype(DType::kU64);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return ((all % range).astype(DType::kI64) + low).astype(dtype);
}

Tensor bernoulli(const Key& key, const Sizes& shape, const Tensor& p) {
  const Tensor chance = parameter("bernoulli", key, p, shape);
  key.use("bernoulli");
  return unit_uniform(key, shape, DType::kF32) < chance;
}

Tensor dropout_mask(const Key& key, const Sizes& shape, double rate, DType dtype) {
  TN_REQUIRE(rate >= 0 && rate < 1, "[dropout_mask] expected a rate in [0, 1), got {}", rate);
  TN_REQUIRE(is_float(dtype), "[dropout_mask] expected a float dtype, got {}", dtype_name(dtype));
  key.use("dropout_mask");
  const Tensor stays = unit_uniform(key, shape, DType::kF32) >= rate;
  return (stays.astype(DType::kF32) * (1 / (1 - rate))).astype(dtype);
}

Tensor normal(const Key& key, const Sizes& shape, const Tensor& mean, const Tensor& stddev,
              DType dtype) {
  TN_REQUIRE(is_float(dtype), "[normal] expected a float dtype, got {}", dtype_name(dtype));
  key.use("normal");
  const DType inside = dtype == DType::kF64 ? dtype : DType::kF32;
  const Tensor scale = beside(key, stddev, inside), middle = beside(key, mean, inside);
  return (unit_normal(key, shape, inside) * scale + middle).astype(dtype);
}

}  // namespace tenon
