// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes report.json. Its schema is report.schema.json beside this file.
#include <cmath>
#include <nlohmann/json.hpp>

#include "conformance/cases/json_number.hpp"
#include "conformance/report/cause.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const Counts& counts) {
  Json out = Json::object();
  for (int i = 0; i < kStatusCount; ++i)
    out[std::string(status_name(static_cast<Status>(i)))] = counts[static_cast<size_t>(i)];
  return out;
}

double rounded(double value, double parts) { return std::round(value * parts) / parts; }

Json cell_json(const CellRow& row) {
  Json out = {{"op", row.op},
              {"dtype", row.dtype},
              {"state", status_name(headline(row.counts))},
              {"cases", row.cases()},
              {"counts", counts_json(row.counts)},
              {"vacuous_share", rounded(row.vacuous_share(), 1e4)},
              {"worst_ulp", json_number<Json>(row.worst_ulp)},
              {"worst_input", row.worst_input},
              {"layouts", row.layouts},
              {"unsupported", row.reasons},
              {"ulps", Json::array()}};
  for (const auto& [bucket, sample] : row.ulps)
    out["ulps"].push_back({{"bucket", bucket},
                           {"ulp", json_number<Json>(sample.ulp)},
                           {"at", json_number<Json>(sample.at)},
                           {"bound", sample.bound < 0 ? Json() : json_number<Json>(sample.bound)}});
  return out;
}

Json failure_json(const Failure& f) {
  return {{"case", f.name},
          {"status", status_name(f.status)},
          {"kind", f.kind},
          {"op", f.op},
          {"dtype", f.dtype},
          {"layout", f.layout},
          {"text", f.text},
          {"replay", f.replay},
          {"reproducer", f.reproducer},
          {"diff", f.diff},
          {"votes", f.votes},
          {"transform", f.transform},
          {"nodes", f.nodes},
          {"elements", f.elements},
          {"shrink_seconds", rounded(f.shrink_seconds, 1e3)},
          {"same", f.same},
          {"cause", cause_of(f)}};
}

Json names(uint32_t bits) {
  Json out = Json::array();
  for (const Freedom& freedom : freedoms())
    if (bits & freedom.bit) out.push_back(freedom.name);
  return out;
}

Json profile_json(const Report& r) {
  const ProfileVerdict verdict = judge_profile(r);
  return {{"declared", names(verdict.declared)},
          {"needed", names(verdict.needed)},
          {"looser", verdict.looser},
          {"proposal", verdict.proposal}};
}

/// Four cells a digit, the first in the lowest bit.
std::string hex(const std::vector<bool>& bits) {
  std::string out;
  for (size_t i = 0; i < bits.size(); i += 4) {
    unsigned digit = 0;
    for (size_t k = 0; k < 4 && i + k < bits.size(); ++k) digit |= unsigned{bits[i + k]} << k;
    out += "0123456789abcdef"[digit];
  }
  return out;
}

Json missing_json(const std::vector<Missing>& list) {
  Json out = Json::object();
  for (const Missing& missing : list) out[missing.op] = missing.with;
  return out;
}

Json coverage_json(const Report& r) {
  return {{"possible", r.reached.size()},
          {"reached", r.coverage()},
          {"vocabulary", r.gaps.vocabulary},
          {"cells", hex(r.reached)},
          {"pairs", r.gaps.pairs},
          {"pairs_reached", r.gaps.pairs_reached},
          {"pairs_never_reached", missing_json(r.gaps.consumers)},
          {"dtypes_never_reached", missing_json(r.gaps.dtypes)}};
}

Json tried_json(const Report& r) {
  return {{"cases", r.cases()},
          {"planned_cases", r.planned ? Json(r.planned) : Json()},
          {"cells", r.gaps.cells_reached},
          {"possible_cells", r.gaps.cells}};
}

Json properties_json(const std::string& text) {
  const Json read = Json::parse(text, nullptr, false);
  return read.is_object() ? read : Json::object();
}

}  // namespace

std::string to_json(const Report& r) {
  const Environment& e = r.environment;
  Json out = {{"format", kFormat},
              {"version", 1},
              {"backend", r.backend},
              {"plugin", r.plugin},
              {"device", r.device},
              {"declaration", r.declaration},
              {"properties", properties_json(r.properties)},
              {"profile", profile_json(r)},
              {"environment",
               {{"tool", e.tool},
                {"processor", e.processor},
                {"system", e.system},
                {"date", e.date},
                {"command", e.command}}},
              {"seed", r.seed},
              {"jobs", r.jobs},
              {"stopped", r.stopped},
              {"notes", r.notes},
              {"digest", fmt::format("{:016x}", r.digest)},
              {"seconds", rounded(r.seconds, 1e3)},
              {"first_failure_seconds",
               r.first_failure_seconds < 0 ? Json() : Json(rounded(r.first_failure_seconds, 1e3))},
              {"cases", r.cases()},
              {"cases_per_second_per_core", rounded(r.cases_per_second_per_core(), 10)},
              {"tried", tried_json(r)},
              {"counts", counts_json(r.counts)},
              {"failures", Json::array()},
              {"coverage", coverage_json(r)},
              {"cells", Json::array()}};
  for (const Failure& f : r.failures) out["failures"].push_back(failure_json(f));
  for (const auto& [key, row] : r.cells) out["cells"].push_back(cell_json(row));
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::conformance::report
