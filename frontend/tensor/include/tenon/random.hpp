// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random tensors from keys.
//
//   const std::vector<Key> keys = Key(42).split(3);
//   const Tensor w = normal(keys[0], {128, 10}), drop = dropout_mask(keys[1], {32, 128}, 0.1);
//
// A key is a tensor of two u32, so that a new one is a new input and not a new plan. Element i of a
// draw is made of threefry2x32 (Salmon et al., 2011) of key and i, whatever the device, the order
// and the shape around it: uniform, integer and Bernoulli draws are the same bits everywhere; the
// others differ by the rounding of exp, log and cos. One key, one draw: to draw again, split it.
// Shapes may be empty, and have symbols; parameters that are tensors broadcast to them. Wrong
// shapes and dtypes throw kInvalid; what a parameter holds is not read: outside of its range the
// draw means nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

class TENON_API Key {
 public:
  explicit Key(uint64_t seed, Context& context = Context::standard());
  /// u32 [2]: one that was stored, or the input of a function that is traced.
  explicit Key(Tensor words);
  Key(const Key&) = default;  // a move is a copy: none is left empty
  Key& operator=(const Key&) = default;

  /// Keys whose draws are independent of each other and of this key's, which is used up.
  std::vector<Key> split(int64_t count = 2) const;
  /// This key; to use it, or a key split from it, twice throws. Else there is a line in
  /// TENON_LOG=random.
  Key checked() const;

  const Tensor& words() const { return words_; }
  /// Notes that `op` uses it up; what draws calls it.
  void use(const char* op) const;

 private:
  struct Host {
    uint32_t first = 0, second = 0;
  };
  Key(Host host, Context& context);
  Tensor words_;
  std::optional<Host> host_;  ///< known where it began with a seed: it splits without a device
  bool checked_ = false;
  std::shared_ptr<std::atomic<const char*>> used_by_;  ///< of all copies
};

/// Uniform in [low, high), multiples of (high - low) 2^-24 (f64: 2^-53; f16, bf16, fp8: as many
/// bits as they have); rounding of the product may give `high` where that is not 1.
TENON_API Tensor uniform(const Key& key, const Sizes& shape, const Tensor& low = 0.0,
                         const Tensor& high = 1.0, DType dtype = DType::kF32);
/// Integers in [low, high), from 64 bits modulo high - low: a value's chance is off by less than
/// 2^-64. Throws unless low < high and the dtype holds both ends.
TENON_API Tensor randint(const Key& key, const Sizes& shape, int64_t low, int64_t high,
                         DType dtype = DType::kI64);
/// True with chance p.
TENON_API Tensor bernoulli(const Key& key, const Sizes& shape, const Tensor& p = 0.5);
/// 1 / (1 - rate) with chance 1 - rate, else 0: what dropout multiplies with. Throws for a rate
/// outside [0, 1).
TENON_API Tensor dropout_mask(const Key& key, const Sizes& shape, double rate,
                              DType dtype = DType::kF32);

/// By Box and Muller, 1958.
TENON_API Tensor normal(const Key& key, const Sizes& shape, const Tensor& mean = 0.0,
                        const Tensor& stddev = 1.0, DType dtype = DType::kF32);
/// The standard normal distribution between two bounds, by its inverse: around 0 Giles's
/// ("Approximating the erfinv function", 2010), in a tail (both bounds beyond 1) by Newton's method
/// on the logarithm of the share that is left. Throws unless low < high.
TENON_API Tensor truncated_normal(const Key& key, const Sizes& shape, double low, double high,
                                  DType dtype = DType::kF32);
/// -ln(1 - u) / rate.
TENON_API Tensor exponential(const Key& key, const Sizes& shape, const Tensor& rate = 1.0,
                             DType dtype = DType::kF32);
/// Of shape a > 0 and scale 1, f32, in the shape of a or the one given: Marsaglia and Tsang, 2000,
/// the first of eight proposals that is accepted (all are refused with a chance below 10^-10).
TENON_API Tensor gamma(const Key& key, const Tensor& a, const Sizes& shape = {});
/// G(a) / (G(a) + G(b)), f32.
TENON_API Tensor beta(const Key& key, const Tensor& a, const Tensor& b, const Sizes& shape = {});
/// Rows that add up to 1, f32: alpha is [.., n], `shape` what stands before n.
TENON_API Tensor dirichlet(const Key& key, const Tensor& alpha, const Sizes& shape = {});
/// Counts, i64, of mean `rate` in [0, 10^4]: below 10 by the inverse of the distribution, above by
/// Hoermann's PTRS ("The transformed rejection method", 1993) of sixteen proposals.
TENON_API Tensor poisson(const Key& key, const Tensor& rate, const Sizes& shape = {});

/// Positions in the last axis of logits [.., n], i64, with chances softmax(logits), by the largest
/// of logits + Gumbel noise. `shape` is what stands before n.
TENON_API Tensor categorical(const Key& key, const Tensor& logits, const Sizes& shape = {});
/// 0, 1, .. n - 1 in random order, i64: positions sorted by 64 random bits.
TENON_API Tensor permutation(const Key& key, int64_t n);
/// x with an axis in random order.
TENON_API Tensor permutation(const Key& key, const Tensor& x, int axis = 0);
/// Elements of x [n] with equal chances, or with chances p [n] in proportion; without `replace`
/// each one at most once. Throws where that asks for more than n.
TENON_API Tensor choice(const Key& key, const Tensor& x, const Sizes& shape, bool replace = true,
                        const std::optional<Tensor>& p = {});

}  // namespace tenon
