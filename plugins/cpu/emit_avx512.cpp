// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VRANGEP and VSCALEFP on vectors of any length, one register at a time.
#include "plugins/cpu/emit_avx512.hpp"
#include "plugins/cpu/older_llvm.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace tenon::cpu {
namespace {

using llvm::Value;
using Lanes = llvm::SmallVector<int>;

constexpr unsigned kLeastBits = 128, kMostBits = 512;  // of a register
constexpr unsigned kRoundAsSet = 4;                    // rounding mode of the control register

Lanes lanes_from(unsigned first, unsigned count) {
  Lanes lanes(count);
  std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
  return lanes;
}

/// Applies one(x, y) to register-sized pieces. Lanes that pad the last piece are poison.
template <class F>
Value* by_registers(Builder& b, Value* x, Value* y, const F& one) {
  const unsigned lanes = lanes_of(x), bits = x->getType()->getScalarSizeInBits();
  const unsigned width = std::max(kLeastBits / bits, std::bit_ceil(lanes));
  if (!x->getType()->isVectorTy()) {
    const auto wide = [&](Value* v) {
      return b.CreateInsertElement(
          llvm::PoisonValue::get(llvm::FixedVectorType::get(v->getType(), width)), v, uint64_t{0});
    };
    return b.CreateExtractElement(one(wide(x), wide(y)), uint64_t{0});
  }
  if (width * bits > kMostBits) {
    const unsigned low = width / 2;
    const auto part = [&](Value* v, unsigned first, unsigned count) {
      return b.CreateShuffleVector(v, lanes_from(first, count));
    };
    Value* below = by_registers(b, part(x, 0, low), part(y, 0, low), one);
    Value* above = by_registers(b, part(x, low, lanes - low), part(y, low, lanes - low), one);
    Lanes fill = lanes_from(0, low);
    for (unsigned l = lanes - low; l < low; ++l) fill[l] = kAnyLane;
    return b.CreateShuffleVector(below, b.CreateShuffleVector(above, fill), lanes_from(0, lanes));
  }
  if (width == lanes) return one(x, y);
  Lanes fill = lanes_from(0, width);
  for (unsigned l = lanes; l < width; ++l) fill[l] = kAnyLane;
  Value* wide = one(b.CreateShuffleVector(x, fill), b.CreateShuffleVector(y, fill));
  return b.CreateShuffleVector(wide, lanes_from(0, lanes));
}

/// An instruction by register width and element width.
struct Forms {
  llvm::Intrinsic::ID f32[3], f64[3];  ///< of 128, 256 and 512 bits
};
using namespace llvm::Intrinsic;  // NOLINT(google-build-using-namespace)
constexpr Forms kRange = {
    {x86_avx512_mask_range_ps_128, x86_avx512_mask_range_ps_256, x86_avx512_mask_range_ps_512},
    {x86_avx512_mask_range_pd_128, x86_avx512_mask_range_pd_256, x86_avx512_mask_range_pd_512}};
constexpr Forms kScale = {
    {x86_avx512_mask_scalef_ps_128, x86_avx512_mask_scalef_ps_256, x86_avx512_mask_scalef_ps_512},
    {x86_avx512_mask_scalef_pd_128, x86_avx512_mask_scalef_pd_256, x86_avx512_mask_scalef_pd_512}};

/// Calls the instruction on registers, in all lanes.
Value* call(Builder& b, const Forms& forms, Value* x, Value* y, std::optional<unsigned> control) {
  const unsigned lanes = lanes_of(x), bits = x->getType()->getScalarSizeInBits();
  const auto size = static_cast<size_t>(std::countr_zero(lanes * bits / kLeastBits));
  llvm::SmallVector<Value*> operands{x, y};
  if (control) operands.push_back(b.getInt32(*control));
  operands.push_back(llvm::PoisonValue::get(x->getType()));
  operands.push_back(llvm::Constant::getAllOnesValue(b.getIntNTy(std::max(8u, lanes))));
  if (lanes * bits == kMostBits) operands.push_back(b.getInt32(kRoundAsSet));
  return b.CreateIntrinsic(x->getType(), (bits == 32 ? forms.f32 : forms.f64)[size], operands);
}

}  // namespace

Value* emit_extreme_number(Builder& b, bool is_max, Value* x, Value* y) {
  // Sign of the comparison result, and the kind of comparison (Intel SDM, VRANGEPS).
  const unsigned control = 0b0100 | (is_max ? 1 : 0);
  return by_registers(b, x, y, [&](Value* u, Value* v) { return call(b, kRange, u, v, control); });
}

Value* emit_scale(Builder& b, Value* x, Value* n) {
  return by_registers(b, x, n, [&](Value* u, Value* v) { return call(b, kScale, u, v, {}); });
}

}  // namespace tenon::cpu
