// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where single ops are hard.
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "conformance/cases/graphs/boundary_values.hpp"

namespace tenon::conformance::graphs {
namespace {

/// Collects finite values of one dtype with both signs.
class Edges {
 public:
  explicit Edges(DType dtype) : dtype_(dtype) {}

  void exact(double v) {
    const Scalar s = Scalar::of(dtype_, v);
    if (std::isfinite(s.as_double())) out_.push_back(s.bits);
  }
  void around(double v) {
    exact(v);
    const uint64_t bits = Scalar::of(dtype_, v).bits;
    for (const bool away : {false, true}) {
      const uint64_t next = neighbour(bits, dtype_, away);
      if (std::isfinite(Scalar{dtype_, next}.as_double())) out_.push_back(next);
    }
  }
  void both(double v) { around(v), around(-v); }
  void integer(uint64_t v) { out_.push_back(Scalar::of_int(dtype_, static_cast<int64_t>(v)).bits); }
  void code(uint64_t bits) { out_.push_back(bits); }

  std::vector<uint64_t> take() { return std::move(out_); }

 private:
  DType dtype_;
  std::vector<uint64_t> out_;
};

struct Format {
  double least_normal, least, most;
  int precision, least_exponent, most_exponent;
};

Format format_of(DType dtype) {
  const uint64_t unit = Scalar::of(dtype, 1.0).bits;
  Format f{};
  f.least_normal = Scalar{dtype, unit & ~(unit - 1)}.as_double();
  f.least = Scalar{dtype, 1}.as_double();
  f.most = Scalar{dtype, highest(dtype).bits - (has_infinity(dtype) ? 1 : 0)}.as_double();
  f.least_exponent = std::ilogb(f.least_normal);
  f.most_exponent = std::ilogb(f.most);
  f.precision = f.least_exponent - std::ilogb(f.least) + 1;
  return f;
}

/// Powers of two over the whole range, subnormals too.
void powers(Edges& edges, const Format& f) {
  const int step = std::max(1, (f.most_exponent - f.least_exponent) / 24);
  for (int e = f.least_exponent - f.precision + 1; e <= f.most_exponent; e += step)
    edges.both(std::ldexp(1.0, e));
  for (const double m : {1.0, 1.25, 1.5, 2.0, 3.0, 0.5, 0.75}) edges.both(m * f.least_normal);
  for (const double m : {1.0, 0.5, 0.25, 0.75}) edges.both(m * f.most);
}

void exponentials(Edges& edges, const Format& f, double per_octave) {
  const double top = f.most_exponent + 1, bottom = f.least_exponent;
  for (const double e : {top, top - 1, top - 0.5, bottom, bottom - 1, bottom + 1,
                         bottom - f.precision + 1, bottom - f.precision + 2.0, bottom - 2.5})
    edges.around(e * per_octave);
  for (int k = 1; k <= f.precision; k += 2) edges.both(std::ldexp(1.0, -k));
  for (int i = 0; i <= 20; ++i) edges.both((i - 0.5) * per_octave), edges.both(i * per_octave);
  // Far out and still finite: x times log2(e) in too few bits shows.
  for (int i = 1; i <= 8; ++i) edges.both(top * per_octave * (i - 0.37) / 8.2);
}

void logarithms(Edges& edges, const Format& f) {
  for (int k = 1; k < f.precision + 1; ++k)
    for (const double sign : {1.0, -1.0}) edges.around(1 + sign * std::ldexp(1.0, -k));
  for (int k = 1; k < f.precision; ++k)
    for (const double sign : {1.0, -1.0}) edges.exact(1 + sign * 1.4142 * std::ldexp(1.0, -k));
  const int step = std::max(1, (f.most_exponent - f.least_exponent) / 24);
  for (int e = f.least_exponent - f.precision + 1; e <= f.most_exponent; e += step)
    edges.around(std::ldexp(1.0, e));
}

void angles(Edges& edges, const Format& f) {
  for (const double k : {1., 2., 3., 4., 5., 7., 8., 11., 16., 40., 100., 355., 1001., 10000.,
                         31831., 63661., 200000.})
    edges.both(k * std::numbers::pi / 2);
  for (const double v : {1000.0, 12345.678, 48000.5, 99999.5, 1e5, 1234567.0}) edges.both(v);
  for (int k = 1; k < 2 * f.precision; k += 3) edges.both(std::ldexp(1.0, -k));
}

void roundings(Edges& edges, const Format& f) {
  for (const double v : {0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 7.0, 99.5, 127.0, 255.5}) edges.both(v);
  for (int k = -2; k <= 1; ++k) {
    edges.both(std::ldexp(1.0, f.precision + k));
    edges.both(std::ldexp(1.0, f.precision + k - 1) + 0.5);
  }
  for (const int e : {15, 16, 31, 32, 63}) edges.both(std::ldexp(1.0, e));
  edges.both(f.least_normal);
}

void float_to_int(Edges& edges, DType to) {
  const int bits = static_cast<int>(dtype_bits(to));
  for (const double v : {0.25, 0.5, 0.9990234375, 1.0, 1.5, 2.5, 3.75, 100.5}) edges.both(v);
  for (const int e : {bits - 2, bits - 1, bits, bits + 1, 31, 32, 63, 64}) {
    edges.both(std::ldexp(1.0, e));
    edges.both(std::ldexp(1.0, e) - 1);
    edges.both(std::ldexp(1.0, e) - 0.5);
    edges.both(std::ldexp(1.0, e) * 1.25);
  }
}

/// Halfway between neighbours of the narrower format, and its ends.
void float_to_float(Edges& edges, DType to) {
  const uint64_t codes = std::min<uint64_t>(highest(to).bits, uint64_t{1} << 62);
  const uint64_t step = std::max<uint64_t>(1, codes / 150);
  for (uint64_t code = 0; code + 1 < codes; code += step) {
    const double here = Scalar{to, code}.as_double(), next = Scalar{to, code + 1}.as_double();
    const double halfway = here + (next - here) / 2;
    for (const double sign : {1.0, -1.0}) edges.around(sign * halfway);
    edges.exact(code % 2 ? -here : here);
    // By way of f32, these come to lie on the half, or on its neighbour.
    for (const double part : {0.7, 1.4}) edges.exact(halfway * (1 + std::ldexp(part, -24)));
  }
  const Format f = format_of(to);
  const double unit = std::ldexp(1.0, f.most_exponent - f.precision + 1);
  for (const double v : {f.most, f.most + unit / 2, f.most + unit, 1.5 * f.most, 2 * f.most,
                         f.least, f.least / 2, f.least * 0.75, f.least / 4, f.least_normal,
                         f.least_normal - f.least / 2, f.least_normal - f.least})
    edges.both(v);
}

void integer_to_float(Edges& edges, DType from, DType to) {
  const int bits = static_cast<int>(dtype_bits(from)) - is_signed(from);
  const int precision = format_of(to).precision;
  for (int e = precision; e < bits; ++e)
    for (const uint64_t odd : {1, 3})
      for (int d = -1; d <= 1; ++d) {
        const uint64_t v = (uint64_t{1} << e) + (odd << (e - precision)) + static_cast<uint64_t>(d);
        edges.integer(v);
        if (is_signed(from)) edges.integer(~v + 1);
      }
}

void casts(Edges& edges, DType from, DType to) {
  if (is_float(from)) {
    for (const uint64_t code : core_values(from)) edges.code(code);  // NaN with payloads too
    if (to == DType::kBool)
      for (const double v : {0.0, 0.5, 0.25, 256.0, 65536.0, 4294967296.0, 1e-30, 1e-300})
        edges.both(v);
    else if (is_float(to))
      float_to_float(edges, to);
    else
      float_to_int(edges, to);
  } else if (is_float(to)) {
    integer_to_float(edges, from, to);
  } else {
    for (const int e : {7, 8, 15, 16, 31, 32})
      for (const uint64_t m : {1, 3, 5})
        for (int d = -1; d <= 1; ++d) edges.integer((m << e) + static_cast<uint64_t>(d));
  }
}

void float_edges(Edges& edges, Op op, DType dtype, DType other) {
  const Format f = format_of(dtype);
  switch (op_family(op)) {
    case OpFamily::POWER:
      return exponentials(edges, f, op == Op::EXP2 ? 1 : std::numbers::ln2);
    case OpFamily::LOG:
      return logarithms(edges, f);
    case OpFamily::ANGLE:
      return angles(edges, f);
    case OpFamily::WHOLE:
      return roundings(edges, f);
    case OpFamily::ROOT:
      for (int i = 1; i < 40; ++i) edges.around(i * i);
      return powers(edges, f);
    case OpFamily::CONVERT:
      return casts(edges, dtype, other);
    default:
      return powers(edges, f);
  }
}

void integer_edges(Edges& edges, Op op, DType dtype, DType other, int operand) {
  const int bits = static_cast<int>(dtype_bits(dtype));
  const OpFamily family = op_family(op);
  if (family == OpFamily::CONVERT) return casts(edges, dtype, other);
  if (family == OpFamily::SHIFT && operand == 1) {
    for (int count = -1; count <= 2 * bits; ++count) edges.integer(static_cast<uint64_t>(count));
    for (const uint64_t count : {255, 256, 257, 65536}) edges.integer(count);
  } else if (family == OpFamily::DIVISION && operand == 1) {
    for (int v = -10; v <= 10; ++v) edges.integer(static_cast<uint64_t>(v));
    for (const int e : {bits / 2, bits - 2}) edges.integer(uint64_t{1} << e);
  } else if (family == OpFamily::PRODUCT) {  // products at the ends of the range
    for (const int e : {bits / 2 - 1, bits / 2, bits / 2 + 1})
      for (int d = -1; d <= 1; ++d) edges.integer((uint64_t{1} << e) + static_cast<uint64_t>(d));
  }
  for (const uint64_t v : core_values(dtype)) edges.code(v);
  if (bits == 64)  // what a double cannot hold
    for (const int e : {53, 54, 57, 62})
      for (const uint64_t d : {1, 2, 3, 5})
        edges.integer((uint64_t{1} << e) + d), edges.integer(~((uint64_t{1} << e) + d) + 1);
}

}  // namespace

const std::vector<uint64_t>& op_edges(Op op, DType dtype, DType other, int operand) {
  static std::mutex mutex;
  static std::map<std::tuple<Op, DType, DType, int>, std::vector<uint64_t>> all;
  const std::lock_guard lock(mutex);
  const auto [place, fresh] = all.try_emplace({op, dtype, other, operand});
  if (fresh && dtype != DType::kBool) {
    Edges edges(dtype);
    if (is_float(dtype))
      float_edges(edges, op, dtype, other);
    else
      integer_edges(edges, op, dtype, other, operand);
    place->second = edges.take();
  }
  return place->second;
}

}  // namespace tenon::conformance::graphs
