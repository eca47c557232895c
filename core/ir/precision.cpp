// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/precision.hpp"

namespace tenon {
namespace {

struct PrecisionRow {
  std::string_view name;
  int bits;
};
constexpr PrecisionRow kPrecisionRows[] = {{"default", 0}, {"exact", 0}, {"tf32", 11}, {"bf16", 8}};

}  // namespace

std::string_view precision_name(Precision precision) {
  return kPrecisionRows[static_cast<size_t>(precision)].name;
}

std::optional<Precision> precision_from_name(std::string_view name) {
  for (const Precision p : {Precision::kExact, Precision::kTf32, Precision::kBf16})
    if (precision_name(p) == name) return p;
  return std::nullopt;
}

int factor_bits(Precision precision) { return kPrecisionRows[static_cast<size_t>(precision)].bits; }

}  // namespace tenon
