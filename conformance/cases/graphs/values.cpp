// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws values. Floats are drawn as doubles and rounded once, or as bit patterns.
#include "conformance/cases/graphs/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "conformance/cases/graphs/boundary_values.hpp"

namespace tenon::conformance::graphs {
namespace {

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
  uint64_t core = 0, boundary = 0, edges = 0, anywhere = 0, bits = 0;
};

Mix draw_mix(const Domain& domain, DType dtype, ValueMode mode, Random& random) {
  Mix mix;
  if (domain.bounded || dtype == DType::kBool) return mix;
  const bool has_edges = domain.edges && !domain.edges->empty();
  if (mode == ValueMode::kSpecial) {
    if (domain.summed && (domain.odd || random.chance(60))) return {.core = 1, .boundary = 1};
    if (domain.small_share) return {.edges = has_edges ? 30u : 0u};
    mix = {.core = 25, .boundary = 20, .edges = 20, .anywhere = 15, .bits = 5};
  } else if (domain.wide && mode == ValueMode::kConditioned) {
    constexpr Mix kMixes[] = {{}, {.edges = 50}, {.edges = 25, .anywhere = 25}, {.anywhere = 60}};
    mix = random.pick(kMixes);
  }
  if (!has_edges) mix.anywhere += std::exchange(mix.edges, 0);
  return mix;
}

/// Draws the elements of one array; what they have in common is worked out once.
class Drawer {
 public:
  Drawer(DType dtype, const Domain& domain, const Mix& mix, ValueMode mode, Random& random)
      : dtype_(dtype),
        domain_(domain),
        mix_(mix),
        random_(random),
        float_(is_float(dtype)),
        signed_(is_signed(dtype)),
        width_(dtype_bits(dtype)),
        largest_(highest(dtype).bits),
        core_(core_values(dtype)),
        boundary_values_(boundary_values(dtype)),
        exact_(mode == ValueMode::kExact) {
    if (!float_) set_range(lowest(dtype).as_double(), highest(dtype).as_double(), 0x1p62);
    if (float_ && exact_) set_range(-8, 8, 8);
    if (float_ && !exact_) set_logarithms();
  }

  uint64_t operator()() {
    if (dtype_ == DType::kBool) return random_.below(2);
    kind_ = random_.below(100);
    if (is(mix_.core)) return random_.pick(core_);
    if (is(mix_.boundary)) return random_.pick(boundary_values_);
    if (is(mix_.edges)) return random_.pick(*domain_.edges);
    if (is(mix_.anywhere)) return anywhere();
    if (is(mix_.bits)) return bits();
    if (!float_) return integer();
    return code(exact_ ? exact() : real());
  }

 private:
  bool is(uint64_t share) {
    const bool mine = kind_ < share;
    kind_ -= mine ? 0 : share;
    return mine;
  }

  /// Integers inside the domain, the dtype and +-`most`, which keeps the casts defined.
  void set_range(double least, double highest, double most) {
    const double low = std::ceil(std::clamp(domain_.low, std::max(least, -most), most));
    const double high = std::floor(std::clamp(domain_.high, -most, std::min(highest, most)));
    low_ = static_cast<int64_t>(low);
    high_ = static_cast<int64_t>(high);
  }

  void set_logarithms() {
    const double tops[2] = {domain_.high, -domain_.low}, bottoms[2] = {domain_.low, -domain_.high};
    for (int negative = 0; negative < 2; ++negative) {
      const double top = std::max(tops[negative], 1e-6);
      least_[negative] = std::max({domain_.smallest, bottoms[negative], top * 0x1p-10});
      octaves_[negative] = std::log2(std::max(top / least_[negative], 1.0));
    }
  }

  uint64_t bits() { return random_.bits() >> (64 - width_); }

  uint64_t whole(int64_t value) const {
    return static_cast<uint64_t>(value) & (~uint64_t{0} >> (64 - width_));
  }

  uint64_t code(double value) const {
    if (dtype_ == DType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
    if (dtype_ == DType::kF64) return std::bit_cast<uint64_t>(value);
    return Scalar::of(dtype_, value).bits;
  }

  uint64_t integer() {
    if (high_ < low_) return whole(low_);
    const int64_t value = random_.between(low_, high_);
    return whole(domain_.odd ? value | 1 : value);
  }

  /// Integers of small magnitude; where the domain has hardly one, one of either sign.
  double exact() {
    if (high_ <= low_ && domain_.summed) return random_.chance(50) ? 1 : -1;
    if (high_ <= low_) return std::clamp(1.0, domain_.low, domain_.high);
    const auto value = static_cast<double>(random_.between(low_, high_));
    const bool small = std::abs(value) < domain_.smallest;
    return small ? std::max(1.0, std::ceil(domain_.smallest)) : value;
  }

  /// Log-uniform or uniform inside the domain, with the signs that it has.
  double real() {
    double value;
    if (random_.chance(50)) {
      value = domain_.low + random_.unit() * (domain_.high - domain_.low);
    } else {
      const bool negative = domain_.high <= 0 || (domain_.low < 0 && random_.chance(50));
      value = least_[negative] * std::exp2(random_.unit() * octaves_[negative]);
      if (negative) value = -value;
    }
    if (std::abs(value) < domain_.smallest)
      value = value < 0 && domain_.low < 0 ? -domain_.smallest : domain_.smallest;
    return std::clamp(value, domain_.low, domain_.high);
  }

  /// Any finite value, each exponent as likely as the others.
  uint64_t anywhere() {
    const uint64_t drawn = bits();
    if (float_) {
      const uint64_t sign = uint64_t{1} << (width_ - 1);
      return (drawn & (sign - 1)) < largest_ ? drawn : drawn & sign;
    }
    const uint64_t shifted = drawn >> random_.below(width_);
    const bool negative = signed_ && random_.chance(50);
    return negative ? whole(-static_cast<int64_t>(shifted >> 1)) : shifted;
  }

  const DType dtype_;
  const Domain& domain_;
  const Mix mix_;
  Random& random_;
  const bool float_, signed_;
  const uint64_t width_, largest_;
  const std::vector<uint64_t>&core_, &boundary_values_;
  const bool exact_;
  int64_t low_ = 0, high_ = 0;
  double least_[2] = {}, octaves_[2] = {};  ///< of positive and of negative values
  uint64_t kind_ = 0;
};

template <class F>
void fill_with(Array& array, F draw_one) {
  static_assert(std::endian::native == std::endian::little);
  const auto fill_as = [&]<class T>(T) {
    const size_t count = array.bytes.size() / sizeof(T);
    for (size_t i = 0; i < count; ++i) {
      const auto bits = static_cast<T>(draw_one(i));
      std::memcpy(array.bytes.data() + i * sizeof(T), &bits, sizeof(T));
    }
  };
  switch (dtype_size(array.dtype)) {
    case 1:
      return fill_as(uint8_t{});
    case 2:
      return fill_as(uint16_t{});
    case 4:
      return fill_as(uint32_t{});
    default:
      return fill_as(uint64_t{});
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
  Drawer drawer(dtype, domain, mix, mode, random);
  fill_with(array, [&](uint64_t) { return drawer(); });
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

}  // namespace tenon::conformance::graphs
