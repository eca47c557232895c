// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/loop_bound.hpp"

#include "core/kernel/tree/loop_trips.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

void check_trips(int64_t trips, uint32_t limit) {
  if (trips > limit)
    fail(ErrorKind::kUnsupported,
         "[lower] expected at most {} iterations of all loops of a thread together, the device's "
         "max_loop_trips, got more",
         limit);
}

}  // namespace

void LoopBound::check(const std::map<std::string, int64_t>& symbols) const {
  check_trips(trips.evaluate(symbols), limit);
}

std::optional<LoopBound> loop_bound(const Kernel& kernel, const Capabilities& capabilities) {
  const uint32_t limit = capabilities.max_loop_trips;
  if (limit == 0) return {};
  const Expr trips = loop_trips(kernel, limit);
  check_trips(trips.min(), limit);
  if (trips.max() <= limit) return {};
  return LoopBound{trips, limit};
}

}  // namespace tenon
