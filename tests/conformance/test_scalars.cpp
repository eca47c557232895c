// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two writings of ops.def on single values, the core's and the sdk's, agree. Who judges uses
// the one, interpreters of plugins the other.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

#include "conformance/cases/abi/scalars.hpp"
#include "core/ir/op.hpp"
#include "sdk/program/scalar.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

/// Ones that round in many ways: only where ops.def pins the bits.
bool is_pinned(Op op) {
  return op != Op::EXP2 && op != Op::LOG2 && op != Op::SIN && op != Op::EXP && op != Op::LN &&
         op != Op::COS;
}

std::vector<uint64_t> samples(DType dtype) {
  const uint64_t all = ~uint64_t{0} >> (64 - dtype_bits(dtype));
  if (dtype == DType::kBool) return {0, 1};
  std::vector<uint64_t> out{0,       1,       2,       3,           5,       31,        all,
                            all - 1, all / 2, all / 3, all / 2 + 1, all / 5, 0x35 & all};
  if (is_float(dtype))
    for (const double value : {1.0, -1.0, 0.5, 1.75, -3.0, 6.0, 240.0, 1e-3, 0x1p-14, 0x1p-15})
      out.push_back(Scalar::of(dtype, value).bits);
  return out;
}

bool same(DType dtype, uint64_t a, uint64_t b) {
  if (a == b) return true;
  return is_float(dtype) && std::isnan(to_double(a, static_cast<uint8_t>(dtype))) &&
         std::isnan(to_double(b, static_cast<uint8_t>(dtype)));
}

}  // namespace

TEST_CASE("the core's scalars and the sdk's agree on every op and dtype") {
  size_t compared = 0;
  for (const OpInfo& info : all_ops()) {
    if (!is_elementwise(info.op) || !is_pinned(info.op) || info.op == Op::WHERE) continue;
    const auto op = static_cast<uint16_t>(info.op);
    for (const DType from : all_dtypes()) {
      if (!takes(info.types, from)) continue;
      for (const DType to : all_dtypes()) {
        const bool compares = info.kind == OpKind::COMPARE;
        if (info.op != Op::CAST && to != (compares ? DType::kBool : from)) continue;
        const auto a = static_cast<uint8_t>(from), b = static_cast<uint8_t>(to);
        const sdk::ScalarFunction function = sdk::scalar_function(op, a, b);
        if (!function) continue;
        const std::vector<uint64_t> values = samples(from);
        for (const uint64_t x : values)
          for (const uint64_t y : info.arity > 1 ? values : std::vector<uint64_t>{0})
            for (const uint64_t z : info.arity > 2 ? values : std::vector<uint64_t>{0}) {
              const uint64_t mine = evaluate_op(op, a, b, x, y, z), other = function(x, y, z);
              ++compared;
              if (same(to, mine, other)) continue;
              FAIL_CHECK(info.text << " " << dtype_name(from) << " to " << dtype_name(to) << " of "
                                   << scalar_text(x, a) << ", " << scalar_text(y, a) << ", "
                                   << scalar_text(z, a) << ": " << scalar_text(mine, b) << " and "
                                   << scalar_text(other, b));
            }
      }
    }
  }
  CHECK(compared > 50'000);
}

TEST_CASE("one least normal number of each float dtype") {
  CHECK(least_normal(TN_DTYPE_F64) == 0x1p-1022);
  CHECK(least_normal(TN_DTYPE_F32) == 0x1p-126);
  CHECK(least_normal(TN_DTYPE_BF16) == 0x1p-126);
  CHECK(least_normal(TN_DTYPE_F16) == 0x1p-14);
  CHECK(least_normal(TN_DTYPE_F8E4M3) == 0x1p-6);
  CHECK(least_normal(TN_DTYPE_F8E5M2) == 0x1p-14);
}
