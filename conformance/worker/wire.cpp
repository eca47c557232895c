// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs fields into lines and back.
#include "conformance/worker/wire.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "core/support/error.hpp"

namespace tenon::conformance {

namespace {

constexpr std::string_view kPhases[] = {"compile", "first", "run"};  // in the order of RunPhase

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

/// "bucket ulp at bound" by fours.
std::string ulps_text(const std::vector<UlpSample>& ulps) {
  std::string out;
  for (const UlpSample& s : ulps)
    out += fmt::format("{}{} {} {} {}", out.empty() ? "" : " ", s.bucket, s.ulp, s.at, s.bound);
  return out;
}

std::vector<UlpSample> parse_ulps(const std::string& text) {
  std::vector<UlpSample> out;
  std::istringstream in(text);
  std::string bucket, ulp, at, bound;  // as words: streams do not read "inf"
  while (in >> bucket >> ulp >> at >> bound)
    out.push_back({std::atoi(bucket.c_str()), std::strtod(ulp.c_str(), nullptr),
                   std::strtod(at.c_str(), nullptr), std::strtod(bound.c_str(), nullptr)});
  return out;
}

std::vector<uint32_t> parse_cells(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<uint32_t>(in), {}};
}

}  // namespace

std::string_view word_of(RunPhase phase) { return kPhases[static_cast<size_t>(phase)]; }

std::optional<RunPhase> phase_of(std::string_view word) {
  const auto at = std::ranges::find(kPhases, word);
  if (at == std::end(kPhases)) return std::nullopt;
  return static_cast<RunPhase>(at - std::begin(kPhases));
}

std::string pack(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += '\t';
    for (const char c : field) {
      if (c == '\t')
        line += "\\t";
      else if (c == '\n')
        line += "\\n";
      else if (c == '\\')
        line += "\\\\";
      else if (c != '\r')
        line += c;
    }
  }
  return line + '\n';
}

std::vector<std::string> unpack(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t begin = 0;;) {
    const size_t end = line.find('\t', begin);
    fields.push_back(unescape(line.substr(begin, end == line.npos ? end : end - begin)));
    if (end == line.npos) return fields;
    begin = end + 1;
  }
}

std::vector<std::string> end_fields(uint64_t index, const Outcome& outcome,
                                    const std::vector<uint32_t>& reached) {
  return {"end",
          std::to_string(index),
          std::string(status_name(outcome.status)),
          outcome.kind,
          fmt::format("{}", outcome.worst_ulp),
          outcome.worst_input,
          outcome.text,
          std::to_string(outcome.digest),
          std::to_string(outcome.needs),
          ulps_text(outcome.ulps),
          outcome.diff,
          outcome.transforms,
          fmt::format("{}", fmt::join(reached, " "))};
}

void read_end(const std::vector<std::string>& fields, Finished& finished) {
  TN_REQUIRE(fields.size() == 13 && fields[0] == "end", "[worker] expected an end line, got \"{}\"",
             fields.empty() ? "" : fields[0]);
  finished.outcome = {.status = status_from_name(fields[2]),
                      .kind = fields[3],
                      .text = fields[6],
                      .worst_ulp = std::strtod(fields[4].c_str(), nullptr),
                      .worst_input = fields[5],
                      .digest = std::strtoull(fields[7].c_str(), nullptr, 10),
                      .needs = static_cast<uint32_t>(std::strtoul(fields[8].c_str(), nullptr, 10)),
                      .ulps = parse_ulps(fields[9]),
                      .diff = fields[10],
                      .transforms = fields[11]};
  finished.reached = parse_cells(fields[12]);
}

}  // namespace tenon::conformance
