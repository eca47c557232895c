// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws values. Floats are drawn as doubles and rounded once, or as bit patterns.
#include "conformance/cases/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tenon::conformance {
namespace {

std::vector<uint64_t> integer_lattice(DType dtype) {
  const int bits = static_cast<int>(dtype_bits(dtype));
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  std::vector<uint64_t> out{0, 1, 2, 3, 5, 7, 10, mask, mask - 1, mask - 2};
  for (int i = 2; i < bits; ++i)
    for (int d = -1; d <= 1; ++d)
      out.push_back(((uint64_t{1} << i) + static_cast<uint64_t>(d)) & mask);
  return out;
}

std::vector<uint64_t> float_lattice(DType dtype) {
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
  out.push_back(Scalar::of(dtype, std::numeric_limits<double>::quiet_NaN()).bits);
  return out;
}

uint64_t random_bits(DType dtype, Random& random) {
  const auto size = dtype_bits(dtype);
  return size == 64 ? random.bits() : random.bits() >> (64 - size);
}

/// Log-uniform or uniform inside the domain, with the signs that it has.
double draw(const Domain& domain, Random& random) {
  double value;
  if (random.chance(50)) {
    value = domain.low + random.unit() * (domain.high - domain.low);
  } else {
    const bool negative = domain.high <= 0 || (domain.low < 0 && random.chance(50));
    const double top = std::max(negative ? -domain.low : domain.high, 1e-6);
    const double least =
        std::max({domain.smallest, negative ? -domain.high : domain.low, top * 0x1p-10});
    value = least * std::exp2(random.unit() * std::log2(std::max(top / least, 1.0)));
    if (negative) value = -value;
  }
  if (std::abs(value) < domain.smallest)
    value = value < 0 && domain.low < 0 ? -domain.smallest : domain.smallest;
  return std::clamp(value, domain.low, domain.high);
}

/// Integers of small magnitude inside the domain; halves where the domain has hardly an integer.
double draw_exact(const Domain& domain, Random& random) {
  const double low = std::ceil(std::max(domain.low, -8.0));
  const double high = std::floor(std::min(domain.high, 8.0));
  if (high <= low) return std::clamp(1.0, domain.low, domain.high);
  double value =
      static_cast<double>(random.between(static_cast<int64_t>(low), static_cast<int64_t>(high)));
  if (std::abs(value) < domain.smallest) value = std::max(1.0, std::ceil(domain.smallest));
  return value;
}

uint64_t draw_integer(DType dtype, const Domain& domain, ValueMode mode, Random& random) {
  const double least = lowest(dtype).dtype == DType::kVoid ? 0 : lowest(dtype).as_double();
  const double most = highest(dtype).as_double();
  if (!domain.bounded && mode == ValueMode::kSpecial)
    return random.chance(60) ? random.pick(lattice(dtype)) : random_bits(dtype, random);
  // 2^62 keeps the casts below defined for 64-bit dtypes.
  const double low = std::ceil(std::clamp(domain.low, std::max(least, -0x1p62), 0x1p62));
  const double high = std::floor(std::clamp(domain.high, -0x1p62, std::min(most, 0x1p62)));
  if (high < low) return Scalar::of(dtype, low).bits;
  return Scalar::of_int(dtype,
                        random.between(static_cast<int64_t>(low), static_cast<int64_t>(high)))
      .bits;
}

uint64_t draw_float(DType dtype, const Domain& domain, ValueMode mode, Random& random) {
  if (mode == ValueMode::kSpecial && !domain.bounded) {
    const uint64_t kind = random.below(10);
    if (kind < 5) return random.pick(lattice(dtype));
    if (kind < 7) return random_bits(dtype, random);
  }
  return Scalar::of(dtype,
                    mode == ValueMode::kExact ? draw_exact(domain, random) : draw(domain, random))
      .bits;
}

}  // namespace

const std::vector<uint64_t>& lattice(DType dtype) {
  static const auto tables = [] {
    std::array<std::vector<uint64_t>, 32> all;
    for (const DType d : all_dtypes()) {
      auto& table = all[static_cast<size_t>(d)];
      table = d == DType::kBool ? std::vector<uint64_t>{0, 1}
              : is_float(d)     ? float_lattice(d)
                                : integer_lattice(d);
    }
    return all;
  }();
  return tables[static_cast<size_t>(dtype)];
}

void fill(Array& array, const Domain& domain, ValueMode mode, Random& random) {
  const DType dtype = array.dtype;
  const int64_t count = array.count();
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits;
    if (domain.exhaustive)
      bits = static_cast<uint64_t>(i) & ((uint64_t{1} << dtype_bits(dtype)) - 1);
    else if (dtype == DType::kBool)
      bits = random.below(2);
    else if (is_float(dtype))
      bits = draw_float(dtype, domain, mode, random);
    else
      bits = draw_integer(dtype, domain, mode, random);
    array.set(i, Scalar{dtype, bits});
  }
}

}  // namespace tenon::conformance
