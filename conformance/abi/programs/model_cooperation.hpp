// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model of what subgroups do together beyond exchanging values: matrix atoms, and copies that
// arrive later. Which thread holds which element of a fragment is the device's affair, so the model
// has an order of its own; a program that asks for the device's (EXTRACT, COMPOSE) is refused.
#pragma once

#include <vector>

#include "conformance/abi/programs/model.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::abi::programs {

class CooperationModel final : public ProgramModel {
 public:
  /// `atoms` are those of the device.
  CooperationModel(const sdk::ProgramView& program, std::vector<std::vector<ModelValue>> memory,
                   const uint32_t (&grid)[3], const ModelRules& rules,
                   std::vector<tn_matrix_atom> atoms)
      : ProgramModel(program, std::move(memory), grid, rules), atoms_(std::move(atoms)) {}

 private:
  /// Rows, columns and lanes of a fragment, and its dtype.
  struct Shape {
    uint32_t rows, columns, lanes, dtype;
  };
  struct LateCopy {
    ModelMemory* to;
    size_t at;
    ModelValue value;
    uint32_t thread;
  };

  bool run_other(uint32_t i, const Mask& mask) override;
  void copy_later(uint32_t i, const Mask& mask);
  void arrive(uint32_t i, const Mask& mask);
  const tn_matrix_atom& atom(uint32_t i) const;
  Shape shape_of(uint32_t i, uint64_t role) const;
  /// The value of element `e` of a fragment that a subgroup holds; its first thread is `first`.
  ModelValue& element(uint32_t value, uint32_t first, uint32_t e);
  /// Every thread that holds element `e` has what the first one has.
  void spread(uint32_t value, uint32_t first, uint32_t count);
  void access(uint32_t i, uint32_t first);
  void multiply(uint32_t i, uint32_t first);

  std::vector<tn_matrix_atom> atoms_;
  std::vector<LateCopy> copies_;  ///< not committed yet
  std::vector<std::vector<LateCopy>> groups_;
};

}  // namespace tenon::conformance::abi::programs
