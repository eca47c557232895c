// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/report/cause.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

/// Kinds whose sentence is about the plugin's answer, and not about values.
constexpr std::string_view kSaid[] = {"error", "support", "limit",   "leak",
                                      "start", "wrong",   "protocol"};

bool is_said(std::string_view kind) { return std::ranges::find(kSaid, kind) != std::end(kSaid); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Numbers, dtypes and vectors of them are "#".
std::string without_details(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const bool is_number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    const bool is_dtype = dtype_from_name(word.substr(0, word.find('x'))).has_value();
    out += is_number || is_dtype ? std::string("#") : std::string(word);
    at = end;
  }
  return out;
}

/// "cast.i8", "api.each_op.f32": cast, api.each_op.
std::string without_dtype(const std::string& op) {
  const size_t dot = op.rfind('.');
  return dot != op.npos && dtype_from_name(op.substr(dot + 1)) ? op.substr(0, dot) : op;
}

/// Of graphs, programs and sequences, each is a cause of its own, unless it was shrunk to a few
/// ops.
std::string cause(Status status, const std::string& kind, const std::string& op,
                  const std::string& layout, const std::string& text, const std::string& name) {
  constexpr std::string_view kShrunk = "; shrunk to ";
  const std::string head = fmt::format("{} {} ", status_name(status), kind);
  if (is_said(kind)) return head + without_details(text);
  if (const size_t at = text.find(kShrunk); at != text.npos)
    return head + without_details(text.substr(at + kShrunk.size()));
  if (op == "graph" || op == "api.sequence" || op == "api.program") return head + name;
  const bool is_pattern = op.starts_with("api.") && layout != "-";
  return head + without_dtype(op) + (is_pattern ? ' ' + layout : "");
}

}  // namespace

std::string cause_of(const Failure& f) {
  return cause(f.status, f.kind, f.op, f.layout, f.text, f.name);
}

std::string cause_of(const Finished& f) {
  return cause(f.outcome.status, f.outcome.kind, f.cell.op, f.cell.layout, f.outcome.text, "");
}

std::vector<Cause> causes_of(const Report& report) {
  std::vector<Cause> out;
  std::map<std::string, size_t> places;
  for (const Failure& failure : report.failures) {
    const auto [at, is_new] = places.emplace(cause_of(failure), out.size());
    if (is_new) out.emplace_back();
    out[at->second].failures.push_back(&failure);
    out[at->second].cases += 1 + failure.same;
  }
  return out;
}

}  // namespace tenon::conformance::report
