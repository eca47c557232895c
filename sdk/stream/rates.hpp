// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of rates: one row for each rate, one column for each architecture.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tenon/plugin.h"

namespace tenon::sdk {

template <size_t N>
struct RateRow {
  uint32_t tn_rates::*rate;
  uint32_t of[N];  ///< in the order of the architectures
};

template <size_t N, size_t Rows>
std::array<tn_rates, N> rate_tables(const RateRow<N> (&rows)[Rows]) {
  std::array<tn_rates, N> tables;
  for (size_t i = 0; i < N; ++i) {
    tables[i] = TN_INIT(tn_rates);
    for (const RateRow<N>& row : rows) tables[i].*row.rate = row.of[i];
  }
  return tables;
}

/// Null for an unknown architecture. `tables` must outlive the result.
template <class Name, size_t N>
const tn_rates* find_rates(const Name (&architectures)[N], const std::array<tn_rates, N>& tables,
                           const Name& architecture) {
  const auto* at = std::ranges::find(architectures, architecture);
  return at == architectures + N ? nullptr : &tables[static_cast<size_t>(at - architectures)];
}

}  // namespace tenon::sdk
