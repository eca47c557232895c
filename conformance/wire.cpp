// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs fields into lines and back.
#include "conformance/wire.hpp"

#include <cstdlib>

#include "core/support/error.hpp"

namespace tenon::conformance {

std::string pack(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += '\t';
    for (const char c : field) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
  return line + '\n';
}

std::vector<std::string> unpack(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t begin = 0;;) {
    const size_t end = line.find('\t', begin);
    fields.emplace_back(line.substr(begin, end == line.npos ? end : end - begin));
    if (end == line.npos) return fields;
    begin = end + 1;
  }
}

std::vector<std::string> end_fields(uint64_t index, const Outcome& outcome) {
  return {"end",
          std::to_string(index),
          std::string(status_name(outcome.status)),
          outcome.kind,
          fmt::format("{}", outcome.worst_ulp),
          outcome.worst_input,
          outcome.text};
}

Outcome read_end(const std::vector<std::string>& fields) {
  TN_REQUIRE(fields.size() == 7 && fields[0] == "end", "[worker] expected an end line, got \"{}\"",
             fields.empty() ? "" : fields[0]);
  return {status_from_name(fields[2]), fields[3], fields[6],
          std::strtod(fields[4].c_str(), nullptr), fields[5]};
}

}  // namespace tenon::conformance
