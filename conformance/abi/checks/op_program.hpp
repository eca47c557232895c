// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that compute many ops at once, so that a device that compiles slowly is asked for few:
// each thread has a pair of operands of each dtype, and each op a stretch of the outputs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/abi/checks/check.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::checks {

/// An op on operands of a dtype.
struct OpRow {
  tn_opcode op;
  tn_dtype from;
  uint64_t imm = 0;
  tn_dtype to = TN_DTYPE_VOID;  ///< of a CAST
};
/// "cast f32x1 to i8".
std::string name_of(const OpRow& row, uint16_t lanes);

/// Of one value, whatever the declared accuracy, on integers and floats of few digits. A cast has
/// rows of its own.
bool has_one_answer(const sdk::OpInfo& op);
/// Every op and cast on the dtype whose results are certain; in more lanes than 1 those of vectors
/// too.
std::vector<OpRow> certain_rows(tn_dtype dtype, uint16_t lanes);

/// What the programs of some rows are like.
struct OpForm {
  uint16_t lanes = 1;
  std::string_view operands = "";  ///< before their names: "edge_" for boundary values
  size_t most_rows = 96;           ///< of a program
};

/// Leaves out rows that the device does not claim.
void keep_claimed(const OpenDevice& device, const OpForm& form, std::vector<OpRow>& rows);
/// Runs the rows in as few programs as the device's bindings allow. Throws a Finding that names the
/// row.
void run_rows(const CheckContext& c, const OpenDevice& device, const OpForm& form,
              std::span<const OpRow> rows);
/// Compiles them in as few: what is claimed is taken. Throws a Finding that names the row.
void compile_rows(const CheckContext& c, const OpenDevice& device, const OpForm& form,
                  std::span<const OpRow> rows);

}  // namespace tenon::conformance::abi::checks
