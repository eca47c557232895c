// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/model_memory.hpp"

#include <algorithm>

namespace tenon::conformance::abi::programs {

ModelMemory::ModelMemory(std::vector<ModelValue> values) : cells_(values.size()) {
  for (size_t i = 0; i < values.size(); ++i) cells_[i].value = values[i];
}

bool ModelMemory::Mark::is_before(const ThreadId& who) const {
  if (!any) return true;
  if (several_groups || last.group != who.group) return false;
  if (last.phase < who.phase) return true;
  if (!several_subgroups && last.subgroup == who.subgroup &&
      last.subgroup_phase < who.subgroup_phase)
    return true;
  return !several_threads && last.thread == who.thread;
}

void ModelMemory::Mark::add(const ThreadId& who) {
  if (any && last.group != who.group) several_groups = true;
  if (!any || last.phase < who.phase) {
    several_threads = several_subgroups = false;
  } else if (last.subgroup != who.subgroup) {
    several_threads = several_subgroups = true;
  } else if (!several_subgroups && last.subgroup_phase < who.subgroup_phase) {
    several_threads = false;
  } else if (last.thread != who.thread) {
    several_threads = true;
  }
  any = true;
  last = who;
}

bool ModelMemory::read(size_t i, const ThreadId& who, ModelValue& value, bool shares_words) {
  Cell& cell = cells_[i];
  value = cell.value;
  cell.read.add(who);
  const bool agrees =
      cell.is_agreed && cell.agreed.group == who.group && cell.agreed.phase == who.phase;
  return (agrees || cell.written.is_before(who)) && (shares_words || cell.atomic.is_before(who));
}

bool ModelMemory::write(size_t i, const ThreadId& who, const ModelValue& value, bool may_agree) {
  Cell& cell = cells_[i];
  if (may_agree && !cell.written.is_before(who) && !cell.written.several_groups &&
      cell.written.last.group == who.group && cell.value.known && value.known &&
      cell.value.bits == value.bits) {
    cell.agreed = who;
    return cell.is_agreed = true;
  }
  const bool is_alone =
      cell.read.is_before(who) && cell.written.is_before(who) && cell.atomic.is_before(who);
  cell.value = value;
  cell.written.add(who);
  return is_alone;
}

bool ModelMemory::atomic(size_t i, const ThreadId& who, uint32_t way, bool is_old_used,
                         bool shares_words) {
  Cell& cell = cells_[i];
  if ((!shares_words && !cell.read.is_before(who)) || !cell.written.is_before(who)) return false;
  const uint32_t kind = is_old_used ? 0 : way;  // 0: not with any other thread's
  Mark& mark = cell.atomic;
  const bool is_alone = mark.is_before(who) || (kind != 0 && mark.way == kind);
  const bool is_past = !mark.any || (mark.is_before(who) && mark.last.phase < who.phase);
  mark.way = is_past || mark.way == kind ? kind : 0;
  mark.add(who);
  return is_alone;
}

void ModelMemory::forget() { std::ranges::fill(cells_, Cell{}); }

}  // namespace tenon::conformance::abi::programs
