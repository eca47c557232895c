// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// multi_buffer: fills the shared tiles of a loop some iterations ahead, while threads compute on
// earlier ones.
#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/tile_loops.hpp"

namespace tenon {
namespace {

constexpr int64_t kMostBuffers = 8;
constexpr int64_t kStageAlignment = 16;  ///< elements, for vector accesses

}  // namespace

Refused apply_multi_buffer(const StepOf<transforms::MultiBuffer>& step) {
  Kernel& kernel = step.kernel;
  if (Refused no = step.check_free(step.transform.axis)) return no;
  const int64_t stages = step.transform.stages;
  const Expr at = kernel.axes[step.transform.axis].symbol();
  if (stages < 2 || stages > kMostBuffers)
    return step.refuse(fmt::format("2 to {} stages", kMostBuffers), std::to_string(stages));
  std::map<int, Expr> moved;  // of a tile's buffer, how far each index goes
  for (Statement& s : path_to(kernel, step.transform.axis).back()->body) {
    if (s.kind != Statement::Kind::kStage) continue;
    KernelBuffer& tile = kernel.buffers[s.buffer];
    if (tile.space != BufferSpace::kShared) continue;
    const int64_t stage_elements = ceil_div(tile.count, kStageAlignment).value() * kStageAlignment;
    if (stage_elements * stages > kMostOfTile)
      return step.refuse(fmt::format("tiles of at most {} elements", kMostOfTile),
                         std::to_string(stage_elements * stages));
    tile.count = stage_elements * stages;
    s.ahead = stages - 1;
    moved.emplace(s.buffer, mod(at, stages) * stage_elements);
  }
  std::set<int> tiles;
  for (const auto& [buffer, by] : moved) tiles.insert(buffer);
  for (const Statement& s : path_to(kernel, step.transform.axis).back()->body)
    if (s.ahead && reads_any(s, tiles))
      return step.refuse("copies of data from before the loop", "one of another's tile");
  if (moved.empty())
    return step.refuse("a shared tile that " + kernel.axes[step.transform.axis].name + " fills",
                       "none");
  walk(kernel.body, [&](Statement& s) {
    if (s.kind != Statement::Kind::kStore) return;
    if (const auto to = moved.find(s.buffer); to != moved.end()) s.index = s.index + to->second;
  });
  rewrite_values(kernel, [&](const KValueRef& v) {
    const auto to = v->kind == KValueKind::kLoad ? moved.find(v->buffer) : moved.end();
    if (to == moved.end()) return v;
    return make_load(v->buffer, v->dtype, v->index + to->second, v->mask, v->constant);
  });
  return {};
}

}  // namespace tenon
