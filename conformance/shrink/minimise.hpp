// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Delta debugging: a list of which no element can be left out (Zeller and Hildebrandt, "Simplifying
// and Isolating Failure-Inducing Input", TSE 2002), by ever smaller chunks.
#pragma once

#include <algorithm>
#include <vector>

namespace tenon::conformance::shrink {

/// `fails` says whether a shorter list still does; the list itself is taken to fail. The order
/// stays.
template <class T, class Fails>
std::vector<T> minimise(std::vector<T> items, const Fails& fails) {
  for (size_t chunk = items.size(); chunk > 0;) {
    bool shorter = false;
    for (size_t end = items.size(); end > 0;) {
      const size_t begin = end > chunk ? end - chunk : 0;
      std::vector<T> rest = items;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(end));
      if (fails(rest)) {
        items = std::move(rest);
        shorter = true;
      }
      end = begin;
    }
    if (!shorter) chunk /= 2;
    chunk = std::min(chunk, items.size());
  }
  return items;
}

}  // namespace tenon::conformance::shrink
