// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runs as a whole: declarations, rate, coverage, how they were made.
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/report/changes.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

using Json = nlohmann::ordered_json;

using Values = std::map<std::string, std::string>;

/// "limits max_bindings" and its value as JSON; a list is one value.
void gather(const Json& json, const std::string& name, Values& out) {
  for (const auto& [key, value] : json.items()) {
    const std::string inner = name.empty() ? key : name + " " + key;
    if (value.is_object())
      gather(value, inner, out);
    else
      out[inner] = value.dump();
  }
}

Values values(const std::string& properties) {
  Values out;
  const Json json = Json::parse(properties, nullptr, false);
  if (json.is_object()) gather(json, "", out);
  return out;
}

class Runs {
 public:
  Runs(const Report& before, const Report& after, std::vector<Change>& out)
      : before_(before), after_(after), out_(out) {}

  void freedoms_claimed() {
    const uint32_t was = declared_freedoms(before_.declaration);
    const uint32_t is = declared_freedoms(after_.declaration);
    for (const Freedom& freedom : freedoms()) {
      if (is & ~was & freedom.bit)
        say(Turn::kWorse, "declaration", fmt::format("looser: now \"{}\"", freedom.declared));
      if (was & ~is & freedom.bit)
        say(Turn::kBetter, "declaration", fmt::format("tighter: now \"{}\"", freedom.kept));
      if (after_.needs & ~before_.needs & freedom.bit)
        say(Turn::kNote, "declaration",
            fmt::format("passing cases now make use of \"{}\"", freedom.declared));
    }
    const auto varies = [](const Report& r) {
      return r.declaration.find("not deterministic") != std::string::npos;
    };
    if (varies(before_) != varies(after_))
      say(varies(after_) ? Turn::kWorse : Turn::kBetter, "declaration",
          varies(after_) ? "no longer deterministic" : "deterministic now");
  }

  void properties() {
    const Values was = values(before_.properties), is = values(after_.properties);
    for (const auto& [name, value] : was)
      if (!is.contains(name))
        say(Turn::kNote, "declaration", fmt::format("{}: {} before, gone now", name, value));
      else if (is.at(name) != value)
        say(Turn::kNote, "declaration",
            fmt::format("{}: {} before, {} now", name, value, is.at(name)));
    for (const auto& [name, value] : is)
      if (!was.contains(name))
        say(Turn::kNote, "declaration", fmt::format("{}: new, {}", name, value));
  }

  void rate(double factor) {
    const double was = before_.cases_per_second_per_core();
    const double is = after_.cases_per_second_per_core();
    if (!(was > 0) || !(is > 0) || (is * factor >= was && was * factor >= is)) return;
    const bool same_host = before_.environment.processor == after_.environment.processor;
    say(!same_host ? Turn::kNote
        : is < was ? Turn::kWorse
                   : Turn::kBetter,
        "rate",
        fmt::format("{:.0f} cases per second and core before, {:.0f} now{}", was, is,
                    same_host ? "" : ", on another processor"));
  }

  void coverage() {
    if (before_.gaps.vocabulary != after_.gaps.vocabulary ||
        before_.reached.size() != after_.reached.size())
      return say(Turn::kNote, "coverage", "the two tools count coverage in different ways");
    uint64_t lost = 0, won = 0;
    for (size_t i = 0; i < before_.reached.size(); ++i) {
      lost += before_.reached[i] && !after_.reached[i];
      won += after_.reached[i] && !before_.reached[i];
    }
    if (lost || won)
      say(Turn::kNote, "coverage",
          fmt::format("{} reached before and not now, {} now and not before",
                      counted(lost, "combination"), grouped(won)));
  }

  void how_made() {
    const auto differs = [&](std::string_view what, const std::string& was, const std::string& is) {
      const auto shown = [](const std::string& text) { return text.empty() ? "nothing" : text; };
      if (was != is)
        say(Turn::kNote, "run", fmt::format("{}: {} before, {} now", what, shown(was), shown(is)));
    };
    differs("backend", before_.backend, after_.backend);
    differs("device", before_.device, after_.device);
    differs("tool", before_.environment.tool, after_.environment.tool);
    differs("processor", before_.environment.processor, after_.environment.processor);
    differs("seed", std::to_string(before_.seed), std::to_string(after_.seed));
    differs("end of the cases", before_.stopped, after_.stopped);
    for (const std::string& note : after_.notes)
      if (before_.notes.empty()) say(Turn::kWorse, "run", note);
    const uint64_t was = of(before_.counts, Status::kDeviceLost);
    const uint64_t is = of(after_.counts, Status::kDeviceLost);
    if (is > was)
      say(Turn::kWorse, "run", fmt::format("the device was lost {}", counted(is, "time")));
  }

 private:
  void say(Turn turn, std::string_view kind, std::string text) {
    out_.push_back({turn, kind, "", std::move(text)});
  }

  const Report &before_, &after_;
  std::vector<Change>& out_;
};

}  // namespace

void compare_runs(const Report& before, const Report& after, double factor,
                  std::vector<Change>& out) {
  Runs runs(before, after, out);
  runs.freedoms_claimed();
  runs.properties();
  runs.rate(factor);
  runs.coverage();
  runs.how_made();
}

}  // namespace tenon::conformance::report
