// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws values. Floats are drawn as doubles and rounded once, or as bit patterns.
#include "conformance/cases/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "conformance/cases/lattice.hpp"

namespace tenon::conformance {
namespace {

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

uint64_t draw_integer(DType dtype, const Domain& domain, Random& random) {
  // 2^62 keeps the casts below defined for 64-bit dtypes.
  const double low =
      std::ceil(std::clamp(domain.low, std::max(lowest(dtype).as_double(), -0x1p62), 0x1p62));
  const double high =
      std::floor(std::clamp(domain.high, -0x1p62, std::min(highest(dtype).as_double(), 0x1p62)));
  if (high < low) return Scalar::of(dtype, low).bits;
  const int64_t value = random.between(static_cast<int64_t>(low), static_cast<int64_t>(high));
  return Scalar::of_int(dtype, domain.odd ? value | 1 : value).bits;
}

/// Any finite value, each exponent as likely as the others.
uint64_t draw_anywhere(DType dtype, Random& random) {
  if (!is_float(dtype)) {
    const uint64_t bits = random_bits(dtype, random) >> random.below(dtype_bits(dtype));
    if (is_signed(dtype) && random.chance(50))
      return Scalar::of_int(dtype, -static_cast<int64_t>(bits >> 1)).bits;
    return bits;
  }
  const uint64_t bits = random_bits(dtype, random);
  const uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  return (bits & (sign - 1)) < highest(dtype).bits ? bits : bits & sign;
}

/// Mostly inside [0, size); else what wraps to the inside in too few bits, or counts from the end.
uint64_t draw_position(DType dtype, int64_t size, Random& random) {
  const uint64_t inside = random.below(static_cast<uint64_t>(size));
  const uint64_t kind = random.below(20);
  if (kind < 16) return Scalar::of_int(dtype, static_cast<int64_t>(inside)).bits;
  if (kind < 18) return Scalar::of_int(dtype, random.between(-2, size + 1)).bits;
  if (kind == 18)  // from the end, as some languages count
    return Scalar::of_int(dtype, static_cast<int64_t>(inside) - size).bits;
  constexpr int kWraps[] = {8, 16, 31, 32, 33, 48, 63};
  const int bits = static_cast<int>(dtype_bits(dtype));
  int wrap = 64;
  for (int tries = 0; tries < 4 && wrap >= bits; ++tries) wrap = random.pick(kWraps);
  if (wrap >= bits) return Scalar::of_int(dtype, -1 - static_cast<int64_t>(inside)).bits;
  uint64_t far = inside + (uint64_t{1} << wrap);
  if (wrap < 63 && random.chance(30)) far = inside - (uint64_t{1} << wrap);
  return Scalar::of_int(dtype, static_cast<int64_t>(far)).bits;
}

/// The mix of one array: of a hundred values so many are of each kind, the rest lie in the domain.
struct Mix {
  uint64_t core = 0, lattice = 0, edges = 0, anywhere = 0, bits = 0;
};

Mix draw_mix(const Domain& domain, DType dtype, ValueMode mode, Random& random) {
  Mix mix;
  if (domain.bounded || dtype == DType::kBool) return mix;
  const bool has_edges = domain.edges && !domain.edges->empty();
  if (mode == ValueMode::kSpecial) {
    if (domain.summed && (domain.odd || random.chance(60))) return {.core = 1, .lattice = 1};
    if (domain.small_share) return {.edges = has_edges ? 30u : 0u};
    mix = {.core = 25, .lattice = 20, .edges = 20, .anywhere = 15, .bits = 5};
  } else if (domain.wide && mode == ValueMode::kConditioned) {
    constexpr Mix kMixes[] = {{}, {.edges = 50}, {.edges = 25, .anywhere = 25}, {.anywhere = 60}};
    mix = random.pick(kMixes);
  }
  if (!has_edges) mix.anywhere += std::exchange(mix.edges, 0);
  return mix;
}

uint64_t draw_bits(DType dtype, const Domain& domain, const Mix& mix, ValueMode mode,
                   Random& random) {
  if (dtype == DType::kBool) return random.below(2);
  uint64_t kind = random.below(100);
  const auto is = [&](uint64_t share) {
    const bool mine = kind < share;
    kind -= mine ? 0 : share;
    return mine;
  };
  if (is(mix.core)) return random.pick(core_values(dtype));
  if (is(mix.lattice)) return random.pick(lattice(dtype));
  if (is(mix.edges)) return random.pick(*domain.edges);
  if (is(mix.anywhere)) return draw_anywhere(dtype, random);
  if (is(mix.bits)) return random_bits(dtype, random);
  if (!is_float(dtype)) return draw_integer(dtype, domain, random);
  const double value =
      mode == ValueMode::kExact ? draw_exact(domain, random) : draw(domain, random);
  return Scalar::of(dtype, value).bits;
}

template <class F>
void fill_with(Array& array, F draw_one) {
  const size_t size = dtype_size(array.dtype);
  static_assert(std::endian::native == std::endian::little);
  for (size_t at = 0; at + size <= array.bytes.size(); at += size) {
    const uint64_t bits = draw_one(at / size);
    std::memcpy(array.bytes.data() + at, &bits, size);
  }
}

/// A value for the second operand, from one of the first.
uint64_t follow(uint64_t bits, DType dtype, Tie tie, Random& random) {
  const uint64_t next = random.chance(70) ? bits : neighbour(bits, dtype, random.chance(50));
  switch (tie) {
    case Tie::kNone:
    case Tie::kEqual:
      return next;
    case Tie::kCancel:
      if (!is_float(dtype)) return Scalar::of_int(dtype, -Scalar{dtype, next}.as_int()).bits;
      return random.chance(30) ? next : next ^ (uint64_t{1} << (dtype_bits(dtype) - 1));
    case Tie::kScale: {
      if (!is_float(dtype)) return next;
      // The product of both is a core value: the largest, the least normal, a subnormal, one.
      const double target = Scalar{dtype, random.pick(core_values(dtype))}.as_double();
      const double near = target * (1 + random.unit());
      return Scalar::of(dtype, near / Scalar{dtype, next}.as_double()).bits;
    }
  }
  return next;
}

}  // namespace

void fill(Array& array, const Domain& given, ValueMode mode, Random& random) {
  const DType dtype = array.dtype;
  Domain domain = given;
  if (domain.exhaustive) {
    const uint64_t mask = (uint64_t{1} << dtype_bits(dtype)) - 1;
    return fill_with(array, [&](uint64_t i) { return i & mask; });
  }
  if (domain.positions >= 0)
    return fill_with(array, [&](uint64_t) {
      return draw_position(dtype, std::max<int64_t>(domain.positions, 1), random);
    });
  if (domain.one_sided && is_signed(dtype) && random.chance(30)) {
    const double most = std::max(domain.high, 2.0), least = std::min(1.0, most / 2);
    domain.low = random.chance(60) ? -most : least;
    domain.high = domain.low < 0 ? -least : most;
  }
  const Mix mix = draw_mix(domain, dtype, mode, random);
  fill_with(array, [&](uint64_t) { return draw_bits(dtype, domain, mix, mode, random); });
}

void tie(std::vector<Array>& inputs, const std::vector<Domain>& domains, Random& random) {
  std::vector<uint64_t> few;
  DType dtype = DType::kVoid;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Array& array = inputs[i];
    if (domains[i].tie == Tie::kNone || (!few.empty() && array.dtype != dtype)) continue;
    const bool first = few.empty();
    const size_t most = domains[i].tie == Tie::kEqual ? 2 : 4;
    for (int64_t k = 0; first && few.size() < most && k < array.count(); ++k)
      few.push_back(array.at(k).bits);
    if (few.empty()) return;
    dtype = array.dtype;
    // Comparisons say something only if many of their operands meet.
    const uint32_t percent = domains[i].tie == Tie::kEqual ? 70 : random.chance(50) ? 40 : 0;
    const size_t size = dtype_size(dtype);
    fill_with(array, [&](uint64_t k) {
      if (random.below(100) < percent) {
        const uint64_t bits = random.pick(few);
        return first ? bits : follow(bits, dtype, domains[i].tie, random);
      }
      uint64_t old = 0;
      std::memcpy(&old, array.bytes.data() + k * size, size);
      return old;
    });
  }
}

}  // namespace tenon::conformance
