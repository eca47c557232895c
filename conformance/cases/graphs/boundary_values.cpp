// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edges of the dtypes themselves.
#include "conformance/cases/graphs/boundary_values.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace tenon::conformance::graphs {
namespace {

std::vector<uint64_t> integer_boundary_values(DType dtype) {
  const int bits = static_cast<int>(dtype_bits(dtype));
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  std::vector<uint64_t> out{0, 1, 2, 3, 5, 7, 10, mask, mask - 1, mask - 2};
  for (int i = 2; i < bits; ++i)
    for (int d = -1; d <= 1; ++d)
      out.push_back(((uint64_t{1} << i) + static_cast<uint64_t>(d)) & mask);
  return out;
}

/// The usual one, the one with all bits, one with the sign, and a signalling one with one bit.
std::vector<uint64_t> nans(DType dtype) {
  const uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  const uint64_t quiet = Scalar::of(dtype, std::numeric_limits<double>::quiet_NaN()).bits;
  return {quiet, sign - 1, quiet | sign, highest(dtype).bits + 1};
}

std::vector<uint64_t> float_boundary_values(DType dtype) {
  std::vector<uint64_t> out;
  const auto both = [&](uint64_t magnitude) {
    out.push_back(magnitude);
    out.push_back(magnitude | (uint64_t{1} << (dtype_bits(dtype) - 1)));
  };
  for (const double v :
       {0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 2.5, 10.0, 0.1, 1.0 / 3, 100.0, 127.5, 255.5,
        3.14159265358979, 65504.0, 2147483648.0, 16777217.0, 9.2233720368547758e18})
    both(Scalar::of(dtype, v).bits);
  const uint64_t largest = highest(dtype).bits;  // infinity, or the largest of f8e4m3
  both(largest);
  both(largest - 1);
  both(largest - 2);
  for (uint64_t tiny : {1, 2, 3}) both(tiny);  // subnormals
  const uint64_t unit = Scalar::of(dtype, 1.0).bits;
  both(unit + 1);
  both(unit - 1);
  for (int e : {-140, -126, -24, -14, -9, -6, -3, 4, 7, 8, 15, 24, 31, 63, 100}) {
    const uint64_t p = Scalar::of(dtype, std::ldexp(1.0, e)).bits;
    both(p);
    if (p > 1 && p < largest) both(p - 1);
  }
  for (const uint64_t nan : nans(dtype)) out.push_back(nan);
  return out;
}

std::vector<uint64_t> float_core(DType dtype) {
  const uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  const uint64_t largest = highest(dtype).bits, unit = Scalar::of(dtype, 1.0).bits;
  // The exponent field of one is all ones but the highest bit; its lowest bit is the least normal.
  const uint64_t least_normal = unit & ~(unit - 1);
  std::vector<uint64_t> out{unit, 0, sign, unit | sign, largest, largest | sign};
  for (const uint64_t nan : nans(dtype)) out.push_back(nan);
  for (const uint64_t magnitude : {uint64_t{1}, least_normal - 1, least_normal, largest - 1})
    for (const uint64_t s : {uint64_t{0}, sign}) out.push_back(magnitude | s);
  return out;
}

std::vector<uint64_t> integer_core(DType dtype) {
  const uint64_t low = lowest(dtype).bits, high = highest(dtype).bits;
  const uint64_t minus_one = Scalar::of_int(dtype, -1).bits;
  std::vector<uint64_t> out{1, 0, 2, high, low};
  if (is_signed(dtype)) out.insert(out.end(), {minus_one, low + 1});
  out.push_back(high - 1);
  return out;
}

template <class Make>
std::array<std::vector<uint64_t>, 32> table(Make make) {
  std::array<std::vector<uint64_t>, 32> all;
  for (const DType dtype : all_dtypes()) all[static_cast<size_t>(dtype)] = make(dtype);
  return all;
}

}  // namespace

const std::vector<uint64_t>& boundary_values(DType dtype) {
  static const auto tables = table([](DType d) {
    if (d == DType::kBool) return std::vector<uint64_t>{0, 1};
    return is_float(d) ? float_boundary_values(d) : integer_boundary_values(d);
  });
  return tables[static_cast<size_t>(dtype)];
}

const std::vector<uint64_t>& core_values(DType dtype) {
  static const auto tables = table([](DType d) {
    if (d == DType::kBool) return std::vector<uint64_t>{1, 0};
    return is_float(d) ? float_core(d) : integer_core(d);
  });
  return tables[static_cast<size_t>(dtype)];
}

uint64_t neighbour(uint64_t bits, DType dtype, bool away) {
  if (dtype == DType::kBool) return bits;
  if (!is_float(dtype)) {
    const uint64_t limit = (away ? highest(dtype) : lowest(dtype)).bits;
    const Scalar next = Scalar::of_int(dtype, Scalar{dtype, bits}.as_int() + (away ? 1 : -1));
    return bits == limit ? bits : next.bits;
  }
  const uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  const uint64_t magnitude = bits & (sign - 1);
  if (magnitude == 0 || magnitude >= highest(dtype).bits) return bits;
  return away ? bits + 1 : bits - 1;
}

}  // namespace tenon::conformance::graphs
