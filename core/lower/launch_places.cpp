// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/launch_places.hpp"

#include <algorithm>

namespace tenon {
namespace {

constexpr tn_axis kAxes[] = {TN_AXIS_GRID_X,  TN_AXIS_GRID_Y,  TN_AXIS_GRID_Z,
                             TN_AXIS_BLOCK_X, TN_AXIS_BLOCK_Y, TN_AXIS_BLOCK_Z};

}  // namespace

LaunchPlaces::LaunchPlaces(const Kernel& kernel, KernelOps& ops) : ops_(ops) {
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kMatrix) {
      Place& threads = places_[number(Bind::kBlockX)];
      threads.extent = s.threads;
      threads.used = true;
      subgroup_ = static_cast<uint32_t>(s.threads);
    }
    if (s.kind != Statement::Kind::kLoop) return;
    const KernelAxis& axis = kernel.axes[s.axis];
    if (!is_grid(axis.bind) && !is_block(axis.bind)) return;
    Place& place = places_[number(axis.bind)];
    place.uneven |= place.used && !(place.extent == axis.extent);
    place.extent = place.used ? max(place.extent, axis.extent) : axis.extent;
    place.used = true;
  });
}

int64_t LaunchPlaces::threads() const {
  int64_t threads = 1;
  for (const Bind place : kBlock)
    if (is_used(place)) threads *= extent(place).value();
  return threads;
}

LaunchPlaces::Value LaunchPlaces::index(Bind place) {
  if (is_used(place) && extent(place).is_const(1)) return ops_.index_constant(0);
  return ops_.tree().pure(TN_OP_INDEX, static_cast<tn_dtype>(ops_.index_dtype()), 1, {},
                          kAxes[number(place)]);
}

bool LaunchPlaces::is_open(Bind place) const { return std::ranges::count(open_, place) > 0; }

void LaunchPlaces::without_threads(const std::function<void()>& emit) {
  const std::vector<Bind> before = open_;
  std::erase_if(open_, is_block);
  emit();
  open_ = before;
}

}  // namespace tenon
