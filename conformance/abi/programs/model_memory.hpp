// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A buffer or an allocation of the model, which watches who touches what: a program with a race
// has no meaning to compare with.
#pragma once

#include <vector>

#include "conformance/abi/programs/model_value.hpp"

namespace tenon::conformance::abi::programs {

/// A thread of the launch, and how many barriers its workgroup and its subgroup have passed.
struct ThreadId {
  uint32_t group = 0, thread = 0, phase = 0;
  uint32_t subgroup = 0, subgroup_phase = 0;
};

class ModelMemory {
 public:
  explicit ModelMemory(std::vector<ModelValue> values);

  size_t size() const { return cells_.size(); }
  const ModelValue& value(size_t i) const { return cells_[i].value; }

  /// Each returns false for a race. `shares_words`: not with atomics, or of an atomic with loads.
  bool read(size_t i, const ThreadId& who, ModelValue& value, bool shares_words = false);
  /// `may_agree`: several threads may write one value, and then all may read it.
  bool write(size_t i, const ThreadId& who, const ModelValue& value, bool may_agree = false);
  /// `way`: atomics of one way on one cell may come in any order if nobody looks at the old value.
  bool atomic(size_t i, const ThreadId& who, uint32_t way, bool is_old_used,
              bool shares_words = false);
  void set(size_t i, const ModelValue& value) { cells_[i].value = value; }
  /// Fresh for the next workgroup.
  void forget();

 private:
  /// Those that did one thing to a cell, as far as it matters whom a barrier parts from them.
  struct Mark {
    bool any = false, several_groups = false, several_subgroups = false, several_threads = false;
    uint32_t way = 0;
    ThreadId last;
    bool is_before(const ThreadId& who) const;
    void add(const ThreadId& who);
  };
  struct Cell {
    ModelValue value;
    Mark read, written, atomic;
    ThreadId agreed;  ///< who wrote what was there, last
    bool is_agreed = false;
  };
  std::vector<Cell> cells_;
};

}  // namespace tenon::conformance::abi::programs
