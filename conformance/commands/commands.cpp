// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// list, run, fuzz, report: what they print. Facts on standard output, the rest on standard error.
#include "conformance/commands/commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/campaign/campaign.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/program_links.hpp"
#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/plan.hpp"
#include "conformance/cases/reach.hpp"
#include "conformance/cases/selection.hpp"
#include "conformance/report/cause.hpp"
#include "conformance/report/verdict.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance::commands {
namespace {

report::Expectations load_expectations(const RunOptions& options, const Target& target) {
  if (!options.expectations.empty()) return {read_file(options.expectations), options.expectations};
  const std::string backend = target.backend_name();
  const std::filesystem::path program = worker::own_program();
  const auto path =
      program.parent_path().parent_path() / "share/tenon/expectations" / (backend + ".txt");
  if (!std::filesystem::exists(path)) return {};
  return {read_file(path), path.string()};
}

/// The files that come with the tool, and those of --regressions.
std::vector<std::filesystem::path> regression_folders(const RunOptions& options) {
  const std::filesystem::path program = worker::own_program();
  std::vector<std::filesystem::path> folders;
  const auto standard = program.parent_path().parent_path() / "share/tenon/regressions";
  if (std::filesystem::exists(standard)) folders.push_back(standard);
  if (std::filesystem::exists(options.regressions)) folders.emplace_back(options.regressions);
  return folders;
}

/// Each cause once: its first failure, and what else has it.
void print_failures(const report::Report& r) {
  constexpr size_t kMostNamed = 12;
  for (const report::Cause& cause : report::causes_of(r)) {
    const report::Failure& f = *cause.failures[0];
    say("{} {} {} {} {}: {}\n    {}\n", paint(status_name(f.status), "31;1"), f.name, f.op, f.dtype,
        f.layout, Lines{f.text}, f.replay);
    if (cause.cases == 1) continue;
    std::string others;
    std::set<std::string> named{f.op + ' ' + f.dtype};
    for (const report::Failure* other : cause.failures) {
      const std::string name = other->op + ' ' + other->dtype;
      if (named.size() <= kMostNamed && named.insert(name).second)
        others += (others.empty() ? ": also " : ", ") + name;
    }
    const size_t more = cause.failures.size() - std::min(cause.failures.size(), named.size());
    say("    {} with this cause{}{}\n", report::counted(cause.cases, "case"), others,
        named.size() > kMostNamed && more ? ", ..." : "");
  }
}

void print_summary(const report::Report& r) {
  constexpr size_t kMostReasons = 10;
  print_failures(r);
  for (const std::string& note : r.notes) say("{}\n", paint(note, "33"));
  if (!r.stopped.empty()) say("ended early: {}\n", r.stopped);
  say("{} on {}: {}, in {:.1f} s, {:.0f} cases a second and core\n", r.backend, r.device,
      report::tried_text(r), r.seconds, r.cases_per_second_per_core());
  for (int i = 0; i < kStatusCount; ++i) {
    const auto status = static_cast<Status>(i);
    if (const uint64_t n = r.counts[static_cast<size_t>(i)])
      say("  {:<12} {}\n", paint(status_name(status), is_failure(status) ? "31" : "32"), n);
  }
  const auto reasons = report::reasons_of(r);
  if (reasons.empty()) return;
  say("unsupported, by reason\n");
  for (size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
    say("  {:<12} {}\n", reasons[i].second, Lines{reasons[i].first});
  if (reasons.size() > kMostReasons) say("  and {} reasons more\n", reasons.size() - kMostReasons);
}

/// Of "a, b, c".
std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

/// Programs that ran, by family and pattern, and of how many patterns with a dtype there are any.
void print_stats(const report::Report& r) {
  std::map<std::string_view, std::map<std::string, uint64_t>> held;
  std::map<std::string_view, std::pair<uint64_t, uint64_t>> programs;  // all, and that ran
  for (const auto& [key, row] : r.cells)
    for (const std::string_view family : abi::kFamilies) {
      if (row.op != "api." + std::string(family)) continue;
      programs[family].first += row.cases();
      programs[family].second += report::tried(row.counts);
      for (const auto& [names, count] : row.layouts)
        for (const std::string& name : names_of(names)) held[family][name] += count;
    }
  for (const std::string_view family : abi::kFamilies) {
    std::set<std::string> all;
    for (const abi::Pattern& pattern : abi::all_patterns())
      if (pattern.family == family)
        for (std::string& name : names_of(pattern.name)) all.insert(std::move(name));
    say("{}: {} programs, of which {} ran, with {} of {} patterns\n", family,
        programs[family].first, programs[family].second, held[family].size(), all.size());
    for (const auto& [name, count] : held[family]) say("  {:<32} {}\n", name, count);
  }
  std::map<abi::LinkKind, std::pair<uint64_t, uint64_t>> links;  // reached, all
  for (uint32_t link = 0; link < abi::link_count(); ++link) {
    auto& [reached, all] = links[abi::link_kind(link)];
    const uint32_t cell = first_link() + link;
    reached += cell < r.reached.size() && r.reached[cell];
    ++all;
  }
  for (const abi::LinkKind kind : abi::kLinkKinds)
    say("{}: {} of {}\n", abi::link_kind_name(kind), links[kind].first, links[kind].second);
}

}  // namespace

Target make_target(const RunOptions& options) {
  TN_REQUIRE(!options.plugin.empty() || !options.backend.empty(),
             "[target] expected --backend NAME or --plugin FILE");
  if (options.plugin.empty()) return {options.backend, std::nullopt, options.target};
  const std::filesystem::path path = std::filesystem::absolute(options.plugin);
  const std::string name = path.filename().string();
  TN_REQUIRE(name.starts_with("libtenon_") && path.extension() == ".so" && name.size() > 12,
             "[target] expected a plugin named libtenon_<backend>.so, got \"{}\"", name);
  TN_REQUIRE(std::filesystem::exists(path), "[target] expected a plugin file, got no file {}",
             path.string());
  const std::string backend = name.substr(9, name.size() - 12);
  if (options.backend.empty()) return {backend, path, options.target};
  Target target{options.backend, path, options.target};
  TN_REQUIRE(
      target.backend_name() == backend,
      "[target] expected --backend to be a term of {}, as the plugin's file says, got \"{}\"",
      backend, options.backend);
  return target;
}

worker::WorkerOptions make_worker(const RunOptions& options) {
  worker::WorkerOptions worker;
  worker.program = worker::own_program();
  worker.target = make_target(options);
  worker.run_seconds = options.run_seconds;
  worker.compile_seconds = options.compile_seconds;
  worker.start_seconds = options.start_seconds;
  worker.memory_mib = options.memory_mib;
  return worker;
}

int list_command(bool json) {
  std::set<std::pair<std::string, std::string>> seen;
  std::string line;
  for (const graphs::CellSpec& spec : graphs::all_cells()) {
    const Cell cell = graphs::describe(spec);
    if (json) {
      line += fmt::format("{}{{\"op\":\"{}\",\"dtype\":\"{}\",\"layout\":\"{}\"}}",
                          line.empty() ? "" : ",\n", cell.op, cell.dtype, cell.layout);
    } else if (seen.emplace(cell.op, cell.dtype).second) {
      say("{} {}\n", cell.op, cell.dtype);
    }
  }
  if (json)
    say("{{\"cells\":[{}],\"run_cases\":{}}}\n", Lines{line}, run_end() - kRunBase);
  else
    say("{} cells of op, dtype and layout; run has {} cases\n", graphs::all_cells().size(),
        run_end() - kRunBase);
  return kExitOk;
}

namespace {

/// Null without --budget.
const Budget* budget_of(const RunOptions& options) {
  for (const Budget& budget : kBudgets)
    if (options.budget == budget.name) return &budget;
  return nullptr;
}

/// --time, or that of --budget; 0 for none.
double time_limit(const RunOptions& options) {
  const Budget* budget = budget_of(options);
  return budget ? budget->seconds : options.seconds;
}

/// All but the range of cases.
campaign::CampaignOptions campaign_options(const RunOptions& options) {
  campaign::CampaignOptions campaign;
  campaign.worker = make_worker(options);
  campaign.seed = options.seed;
  campaign.jobs = options.jobs;
  campaign.expectations = load_expectations(options, campaign.worker.target);
  using Form = campaign::ProgressLine::Form;
  campaign.progress = isatty(STDERR_FILENO) ? Form::kLive : Form::kPlain;
  campaign.stop_after = options.stop_after;
  if (options.no_shrink) campaign.most_shrunk = 0;
  campaign.vote = !options.no_vote;
  if (options.no_recheck) campaign.recheck_one_in = 0;
  campaign.stoppable = true;
  campaign.resume = options.resume;
  TN_REQUIRE(!options.resume || !options.report.empty(),
             "[resume] expected --report with the folder of the run to go on with");
  if (const double seconds = time_limit(options); seconds > 0) campaign.seconds = seconds;
  if (const Budget* budget = budget_of(options)) {
    campaign.shrink_seconds = budget->shrink_one;
    if (budget->shrink_all > 0) campaign.shrink_all_seconds = budget->shrink_all;
  }
  if (!options.regressions.empty())
    campaign.regressions = std::filesystem::absolute(options.regressions);
  if (!options.report.empty()) campaign.folder = std::filesystem::absolute(options.report);
  return campaign;
}

/// The case after the first `count` that the campaign selects. Throws kInvalid where there are
/// fewer.
uint64_t end_of(const campaign::CampaignOptions& campaign, uint64_t count) {
  uint64_t end = campaign.begin, found = 0;
  if (campaign.selection.is_all()) end += count, found = count;
  while (found < count && end < kRunBase)
    found += campaign.selection.wants(plan_case(campaign.seed, end++));
  TN_REQUIRE(found == count && end <= kRunBase,
             "[fuzz] expected {} cases from {} on below {}, got fewer", count, campaign.begin,
             kRunBase);
  return end;
}

/// Whether the run is meant to be over everything.
bool is_whole(const RunOptions& options) {
  return !options.cases && !options.first && options.layers.empty() && options.only.empty() &&
         options.target.empty();
}

int finish(campaign::CampaignOptions campaign, const RunOptions& options) {
  campaign::Campaign result = campaign::run_campaign(std::move(campaign));
  report::complete(result.report, !result.memory_only);
  if (!options.report.empty()) report::write_report(result.report, options.report);
  if (options.json)
    write_output(to_json(result.report));
  else
    print_summary(result.report);
  if (options.stats && !options.json) print_stats(result.report);
  if (result.lost) return kExitLost;
  if (result.in_doubt) return kExitDoubt;
  const report::Counts& counts = result.report.counts;
  if (report::failing(counts) || !result.report.notes.empty()) return kExitFailures;
  if (report::of(counts, Status::kToolError)) {
    complain("tenon-conformance", "a case was not legal, which is an error of this program");
    return kExitTool;
  }
  // What was not tried might have failed.
  if (result.signal) return kExitSignal + result.signal;
  if (!report::tried(counts)) {
    complain("tenon-conformance",
             "expected cases that the device takes, got none: nothing was tried");
    return kExitNothing;
  }
  const report::Gaps& gaps = result.report.gaps;
  if (!is_whole(options) || gaps.cells_reached >= gaps.cells) return kExitOk;
  complain("tenon-conformance",
           fmt::format("expected at least one case an op and dtype, got {} of {}: give it more "
                       "time, or say with --cases, --layers or --only how little is meant",
                       gaps.cells_reached, gaps.cells));
  return kExitLittle;
}

}  // namespace

int run_command(const RunOptions& options, bool fuzz) {
  campaign::CampaignOptions campaign = campaign_options(options);
  campaign.selection = Selection(options.layers, options.only);
  if (fuzz) {
    campaign.begin = options.first;
    if (options.cases || time_limit(options) == 0)
      campaign.count = options.cases ? options.cases : options.only.empty() ? 10000 : 100;
    campaign.end = campaign.count ? end_of(campaign, *campaign.count) : kRunBase;
  } else {
    campaign.announces = true;
    if (options.only.empty()) campaign.replayed = regression_folders(options);
    campaign.begin = kRunBase;
    campaign.end = run_end();
    if (options.cases) campaign.end = std::min(campaign.end, kRunBase + options.cases);
    if (!campaign.selection.is_all()) {
      campaign.count = 0;
      for (uint64_t i = campaign.begin; i < campaign.end; ++i)
        *campaign.count += campaign.selection.wants(plan_case(campaign.seed, i));
    }
  }
  return finish(std::move(campaign), options);
}

int compile_command(const RunOptions& options) {
  TN_REQUIRE(!options.target.empty(), "[compile] expected --target NAME, as sm_90a");
  campaign::CampaignOptions campaign = campaign_options(options);
  if (!options.keep.empty()) {
    std::filesystem::create_directories(options.keep);
    campaign.worker.target.keep = std::filesystem::absolute(options.keep).string();
  }
  const uint64_t graphs = options.cases ? options.cases : 2000;
  campaign.begin = kCompileBase;
  campaign.end = kCompileBase + graphs::all_cells().size() + graphs;
  TN_REQUIRE(campaign.end <= kMemoryBase, "[compile] expected at most {} graphs, got {}",
             kMemoryBase - kCompileBase - graphs::all_cells().size(), graphs);
  campaign.most_shrunk = 0;
  return finish(std::move(campaign), options);
}

int report_command(const std::string& file, const std::string& folder) {
  const report::Report report = report::read_report(file);
  if (folder.empty())
    print_summary(report);
  else
    report::write_report(report, folder);
  return kExitOk;
}

}  // namespace tenon::conformance::commands
