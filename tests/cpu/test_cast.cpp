// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CAST between every two dtypes: all values of 8 and 16 bits, and for wider ones boundary values
// and values beside every rounding boundary.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/view.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

std::vector<tn_dtype> every_dtype() {
  return dtypes_where([](const sdk::DTypeInfo&) { return true; });
}

/// Values of `from` half way between two neighbours of `to`, exactly and nearly: where a second
/// rounding shows.
void add_halfways(std::vector<uint64_t>& values, tn_dtype from, tn_dtype to) {
  if (!sdk::is_float(to) || sdk::dtype_bytes(to) > 2) return;
  const uint64_t codes = uint64_t{1} << (8 * sdk::dtype_bytes(to) - 1);
  for (uint64_t code = 0; code + 1 < codes; code += sdk::dtype_bytes(to) == 1 ? 1 : 7) {
    const double low = sdk::to_double(code, static_cast<uint8_t>(to));
    const double high = sdk::to_double(code + 1, static_cast<uint8_t>(to));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double middle = (low + high) / 2;
    const uint64_t bits = sdk::from_double(middle, from);
    for (int64_t step : {-1, 0, 1}) {
      const uint64_t near = bits + static_cast<uint64_t>(step);
      const uint32_t width = 8 * sdk::dtype_bytes(from);
      values.push_back(width == 64 ? near : near & ((uint64_t{1} << width) - 1));
    }
  }
}

std::vector<uint64_t> cast_operands(tn_dtype from, tn_dtype to) {
  const uint32_t size = sdk::dtype_bytes(from);
  if (from == TN_DTYPE_BOOL) return {0, 1};
  if (size <= 2) {
    std::vector<uint64_t> all(size_t{1} << (8 * size));
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  std::vector<uint64_t> values = interesting_values(from, 20000);
  // Integers around every power of two, with a last bit that a first rounding would lose.
  if (!sdk::is_float(from)) {
    for (uint32_t shift = 0; shift < 8 * size; ++shift) {
      for (uint64_t top : {1, 3, 5, 257, 513, 2049, 4097, 0x1000001}) {
        for (uint64_t low : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
          const uint64_t value = (top << shift) + low;
          values.push_back(size == 8 ? value : value & 0xffffffff);
          values.push_back(size == 8 ? 0 - value : (0 - value) & 0xffffffff);
        }
      }
    }
  }
  add_halfways(values, from, to);
  return values;
}

bool same(uint64_t got, uint64_t want, tn_dtype dtype) {
  if (got == want) return true;
  const auto code = static_cast<uint8_t>(dtype);
  return sdk::is_float(code) && std::isnan(sdk::to_double(got, code)) &&
         std::isnan(sdk::to_double(want, code));
}

void check_cast(tn_dtype from, tn_dtype to, uint16_t lanes) {
  std::vector<uint64_t> values = cast_operands(from, to);
  while (values.size() % lanes) values.push_back(values.front());
  Bytes in(values.size() * sdk::dtype_bytes(from));
  for (size_t i = 0; i < values.size(); ++i) set_element(in, i, sdk::dtype_bytes(from), values[i]);
  Bytes out(values.size() * sdk::dtype_bytes(to), 0xcd);
  const tn_dtype inputs[] = {from};
  shared_device().run(elementwise_program(TN_OP_CAST, inputs, to, lanes, TN_CAST_VALUE),
                      {static_cast<uint32_t>(values.size() / lanes)}, {{&in}, {&out}});
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t want = sdk::convert(values[i], from, to);
    const uint64_t got = element(out, i, sdk::dtype_bytes(to));
    if (same(got, want, to)) continue;
    if (wrong++ == 0)
      UNSCOPED_INFO(sdk::dtype_text(from)
                    << " to " << sdk::dtype_text(to) << " x" << lanes << std::hex << " of "
                    << values[i] << ": expected " << want << ", got " << got);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("value casts between every two dtypes") {
  for (tn_dtype from : every_dtype()) {
    for (tn_dtype to : every_dtype()) {
      check_cast(from, to, 1);
      check_cast(from, to, 16);
      check_cast(from, to, 3);
    }
  }
}

TEST_CASE("bit casts keep the bits") {
  for (tn_dtype from : every_dtype()) {
    for (tn_dtype to : every_dtype()) {
      const uint32_t size = sdk::dtype_bytes(from);
      if (sdk::dtype_bytes(to) != size) continue;
      Bytes in(64 * size), out(64 * size);
      std::mt19937 random(from * 64 + to);
      const bool with_bool = from == TN_DTYPE_BOOL || to == TN_DTYPE_BOOL;
      for (auto& byte : in) byte = static_cast<unsigned char>(with_bool ? random() & 1 : random());
      for (uint16_t lanes : {1, 16}) {
        const tn_dtype inputs[] = {from};
        shared_device().run(elementwise_program(TN_OP_CAST, inputs, to, lanes, TN_CAST_BITS),
                            {64u / lanes}, {{&in}, {&out}});
        CHECK(in == out);
      }
    }
  }
}

}  // namespace tenon::cpu_test
