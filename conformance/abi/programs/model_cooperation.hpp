// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model of what subgroups do together beyond exchanging values: matrix atoms, and copies that
// arrive later. Which thread holds which element of a fragment is the device's affair, so the model
// has an order of its own; a program that asks for the device's (EXTRACT, COMPOSE) is refused. Of
// an atom of TN_SCOPE_BLOCK operands are places in shared memory, which are read when they are
// multiplied.
#pragma once

#include <map>
#include <utility>
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
    bool is_place = false;  ///< of an operand that stays in shared memory
  };
  /// Where a matrix is.
  struct Place {
    ModelMemory* memory = nullptr;
    uint64_t imm = 0;
    int64_t index = 0, stride = 0;
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
  Place place_of(uint32_t i, uint32_t first);
  /// The number in its memory of the element of a row and column.
  size_t cell(uint32_t i, const Place& place, const Shape& shape, int64_t row,
              int64_t column) const;
  void access(uint32_t i, uint32_t first);
  /// An operand's elements, row by row.
  std::vector<ModelValue> operand(uint32_t i, uint32_t value, uint64_t role, uint32_t first);
  void multiply(uint32_t i, uint32_t first);

  std::vector<tn_matrix_atom> atoms_;
  std::map<std::pair<uint32_t, uint32_t>, Place> places_;  ///< by fragment and first thread
  std::vector<LateCopy> copies_;                           ///< not committed yet
  std::vector<std::vector<LateCopy>> groups_;
};

}  // namespace tenon::conformance::abi::programs
