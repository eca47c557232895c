// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes put together, and printed.
#include "conformance/report/changes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/report/markup.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostLines = 40;  ///< of one turn, in text
constexpr Turn kTurns[] = {Turn::kWorse, Turn::kBetter, Turn::kNote};

std::string run_text(const Report& r) {
  return printable(fmt::format("{} on {}, {}, seed {}, {}", r.backend, r.device, r.environment.date,
                               r.seed, counted(r.cases(), "case")));
}

Json run_json(const Report& r) {
  return {{"backend", r.backend},        {"plugin", r.plugin}, {"device", r.device},
          {"date", r.environment.date},  {"seed", r.seed},     {"cases", r.cases()},
          {"failing", failing(r.counts)}};
}

}  // namespace

std::string_view turn_name(Turn turn) {
  switch (turn) {
    case Turn::kWorse:
      return "worse";
    case Turn::kBetter:
      return "better";
    case Turn::kNote:
      return "note";
  }
  return "";
}

std::vector<Change> changes_between(const Report& before, const Report& after, double factor) {
  std::vector<Change> out;
  compare_cells(before, after, factor, out);
  compare_runs(before, after, factor, out);
  std::ranges::stable_sort(out, {}, [](const Change& c) { return c.kind != "failure"; });
  return out;
}

bool got_worse(const std::vector<Change>& changes) {
  return std::ranges::any_of(changes, [](const Change& c) { return c.turn == Turn::kWorse; });
}

std::string changes_text(const Report& before, const Report& after,
                         const std::vector<Change>& changes) {
  std::string out = fmt::format("before  {}\nafter   {}\n", run_text(before), run_text(after));
  for (const Turn turn : kTurns) {
    size_t count = 0;
    for (const Change& change : changes)
      if (change.turn == turn && ++count <= kMostLines)
        out += fmt::format("{:<7} {:<11} {}{}{}\n", turn_name(turn), change.kind,
                           printable(change.where), change.where.empty() ? "" : ": ",
                           printable(change.text));
    if (count > kMostLines)
      out +=
          fmt::format("{:<7} and {} more (--json has all)\n", turn_name(turn), count - kMostLines);
  }
  return out + (changes.empty()      ? "Nothing changed.\n"
                : got_worse(changes) ? "Something got worse.\n"
                                     : "Nothing got worse.\n");
}

std::string changes_json(const Report& before, const Report& after,
                         const std::vector<Change>& changes) {
  Json list = Json::array();
  for (const Change& change : changes)
    list.push_back({{"turn", turn_name(change.turn)},
                    {"kind", change.kind},
                    {"where", change.where},
                    {"text", change.text}});
  const Json out = {{"before", run_json(before)},
                    {"after", run_json(after)},
                    {"worse", got_worse(changes)},
                    {"changes", list}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::conformance::report
