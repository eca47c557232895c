// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `planted@bug=NAME` can be: variants.def as an enum and an array.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::planted {

enum class Variant : uint8_t {
  none,
#define TN_PLANTED(name, kind, what) name,
#define TN_BENIGN(name, kind, what) name,
#include "conformance/selftest/plugin/variants.def"
};

struct VariantRow {
  Variant variant;
  std::string_view name;
  std::string_view kind;
  std::string_view what;
  bool benign;
};

inline constexpr VariantRow kVariants[] = {
#define TN_PLANTED(name, kind, what) {Variant::name, #name, kind, what, false},
#define TN_BENIGN(name, kind, what) {Variant::name, #name, kind, what, true},
#include "conformance/selftest/plugin/variants.def"
};

/// Null if the name means nothing.
constexpr const VariantRow* find_variant(std::string_view name) {
  for (const VariantRow& row : kVariants)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace tenon::planted
