// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/program_bounds.hpp"

#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi {

LoopBounds draw_bounds(Choices& choices, ProgramPool& pool, tn_dtype index, bool is_outer) {
  const Choices::Scope scope(choices, Part::kDimension);
  const int64_t most_iterations = is_outer && choices.chance(20) ? 37 : 6;
  const int64_t iterations = choices.between(0, most_iterations), step = choices.between(1, 3);
  const auto bounds = [&](int64_t begin, int64_t end, int64_t by) {
    return LoopBounds{pool.number(index, begin), pool.number(index, end), pool.number(index, by)};
  };
  const bool is_wide = index == TN_DTYPE_I64;
  const int64_t least = is_wide ? INT64_MIN : INT32_MIN, most = is_wide ? INT64_MAX : INT32_MAX;
  switch (choices.between(0, 7)) {
    case 0:
    case 1:
      return bounds(0, iterations * step, step);
    case 2:
      return bounds(-iterations * step, choices.between(0, 1), step);
    case 3:
      return bounds(-50, -50 + iterations * step, step);
    case 4:
      return bounds(choices.between(0, 9), -choices.between(0, 9), step);  // none
    case 5: {
      // i64 also about 2^32 and -2^32.
      constexpr int64_t kFar = int64_t{1} << 32;
      const int64_t place = is_wide ? choices.between(0, 2) : 0;
      if (place == 0) return bounds(most - iterations, most, 1);
      const int64_t begin = (place == 1 ? kFar : -kFar) - 2;
      return bounds(begin, begin + iterations * step, step);
    }
    case 6:
      return bounds(least, least + iterations * step, step);
    default: {
      LoopBounds out = bounds(-2, 0, step);
      const ProgramValue data = pool.below(pool.any(index, 1), 8);
      out.end = pool.op(TN_OP_ADD, index, {data, pool.number(index, -3)});
      out.uniform = false;
      return out;
    }
  }
}

std::pair<int64_t, int64_t> draw_scalar_bounds(Choices& choices, tn_dtype dtype) {
  const auto code = static_cast<uint8_t>(dtype);
  if (!sdk::is_integer(code)) return {0, 0};
  const bool is_signed = sdk::is_signed(code);
  const uint32_t bits = 8 * sdk::dtype_bytes(code) - (is_signed ? 1 : 0);
  int64_t most = bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  if (choices.chance(50)) most = 7;
  return {is_signed && choices.chance(50) ? -1 - most : 0, most};
}

}  // namespace tenon::conformance::abi
