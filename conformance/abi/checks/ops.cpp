// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of every op: what the core would rewrite before a plugin sees it is claimed too.
#include <algorithm>
#include <array>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/op_program.hpp"
#include "sdk/program/dtype_info.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// Every op on every dtype in one program, or as few as the bindings allow, on boundary values:
/// NaN, infinities, and floats beyond the integers that they are cast to. The first of all checks,
/// since it says most for what it compiles.
void ops_together(const CheckContext& c) {
  constexpr OpForm kForm = {.operands = "edge_", .most_rows = 256};
  const OpenDevice device = computing(c);
  std::vector<OpRow> rows;
  for (const tn_dtype_caps& caps : device.dtypes()) {
    const std::vector<OpRow> more = certain_rows(static_cast<tn_dtype>(caps.dtype), 1);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  keep_claimed(device, kForm, rows);
  need(!rows.empty(), "the device takes none of the ops from buffers");
  run_rows(c, device, kForm, rows);
}

/// Those whose results are a matter of accuracy: that they are taken where they are claimed is
/// certain.
std::vector<OpRow> inexact_rows(tn_dtype dtype) {
  std::vector<OpRow> out;
  for (const sdk::OpInfo& op : sdk::all_ops())
    if (sdk::is_elementwise(op) && !has_one_answer(op) && op.op != TN_OP_CAST &&
        sdk::takes(op.types, uint8_t(dtype)))
      out.push_back({static_cast<tn_opcode>(op.op), dtype});
  return out;
}

size_t run_certain(const CheckContext& c, const OpenDevice& device, uint16_t lanes) {
  const OpForm form{.lanes = lanes};
  std::vector<OpRow> rows = certain_rows(c.dtype, lanes);
  keep_claimed(device, form, rows);
  run_rows(c, device, form, rows);
  return rows.size();
}

void each_op(const CheckContext& c) {
  const OpenDevice device = computing(c);
  const auto caps = std::ranges::find(device.dtypes(), uint32_t(c.dtype), &tn_dtype_caps::dtype);
  need(caps != device.dtypes().end(), "the device does not have the dtype");
  size_t ran = run_certain(c, device, 1);
  std::vector<OpRow> inexact = inexact_rows(c.dtype);
  keep_claimed(device, {}, inexact);
  compile_rows(c, device, {}, inexact);
  // More lanes are for wide_vectors: a compiler takes long over 64 floats of 8 bits.
  if (device.claims(TN_OP_BROADCAST))
    ran += run_certain(c, device, static_cast<uint16_t>(std::clamp(caps->vector_lanes, 2u, 16u)));
  need(ran > 0, "the device takes none of the ops from buffers");
}

/// A row for each dtype, so that its name says which one is wrong.
std::vector<CheckRow> make_rows() {
  static const auto names = [] {
    std::array<std::string, sdk::all_dtypes().size()> out;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = fmt::format("each_op.{}", sdk::all_dtypes()[i].text);
    return out;
  }();
  std::vector<CheckRow> rows;
  for (size_t i = 0; i < names.size(); ++i)
    rows.push_back({names[i], each_op, 28, static_cast<tn_dtype>(sdk::all_dtypes()[i].dtype)});
  return rows;
}

}  // namespace

std::span<const CheckRow> first_checks() {
  static constexpr CheckRow kRows[] = {{"ops_together", ops_together, 28}};
  return kRows;
}

std::span<const CheckRow> op_checks() {
  static const std::vector<CheckRow> rows = make_rows();
  return rows;
}

}  // namespace tenon::conformance::abi::checks
