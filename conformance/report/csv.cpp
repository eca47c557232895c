// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CSV as RFC 4180 has it: one row for each op and dtype.
#include "conformance/report/markup.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

std::string field(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string layouts_text(const CellRow& row) {
  std::string out;
  for (const auto& [layout, cases] : row.layouts) out += (out.empty() ? "" : " ") + layout;
  return out;
}

}  // namespace

std::string to_csv(const Report& r) {
  std::string out = "op,dtype,supported,state,cases";
  for (int i = 0; i < kStatusCount; ++i)
    out += fmt::format(",{}", status_name(static_cast<Status>(i)));
  out += ",vacuous_share,worst_ulp,worst_input,layouts\n";
  for (const auto& [key, row] : r.cells) {
    const Status state = headline(row.counts);
    out +=
        fmt::format("{},{},{},{},{}", field(row.op), field(row.dtype),
                    state == Status::kUnsupported ? "no" : "yes", status_name(state), row.cases());
    for (const uint64_t n : row.counts) out += fmt::format(",{}", n);
    out += fmt::format(",{:.4f},{},{},{}\n", row.vacuous_share(), row.worst_ulp,
                       field(row.worst_input), field(layouts_text(row)));
  }
  return out;
}

}  // namespace tenon::conformance::report
