// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-conformance: the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "conformance/abi/isolated_process.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/training.hpp"
#include "conformance/commands/commands.hpp"
#include "conformance/selftest/selftest.hpp"
#include "conformance/worker/worker.hpp"
#include "core/plugin/driver_noise.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/failure_text.hpp"
#include "frontend/cli/help_words.hpp"
#include "frontend/cli/number_option.hpp"

namespace {

using namespace tenon::conformance;  // NOLINT: the program is this namespace's

using tenon::cli::positive_number;
using tenon::cli::whole_number;
using tenon::cli::whole_number_of;

constexpr uint64_t kMostMebibytes = UINT64_MAX >> 20;  // as bytes they must fit
constexpr uint64_t kMostCases = kRunBase;              // what is beyond is not for fuzz

void add_target(CLI::App* command, commands::RunOptions& options) {
  command->add_option("--backend", options.backend,
                      "Backend, as one term of TENON_DEVICES (cpu, cpu:0@threads=1)");
  command->add_option("--plugin", options.plugin,
                      "A file libtenon_<backend>.so; --backend may say its device and options");
}

void add_limits(CLI::App* command, commands::RunOptions& options) {
  command->add_option("--run-timeout", options.run_seconds, "Seconds that a case may run")
      ->check(positive_number());
  command
      ->add_option("--compile-timeout", options.compile_seconds,
                   "Seconds that its compilation may take")
      ->check(positive_number());
  command
      ->add_option("--start-timeout", options.start_seconds,
                   "Seconds that the plugin may take to load")
      ->check(positive_number());
  command
      ->add_option("--memory-limit", options.memory_mib,
                   "MiB that a worker process may grow to (4096; 0: no limit)")
      ->transform(whole_number(0, kMostMebibytes));
  command->add_flag("--json", options.json, "Facts as JSON on standard output");
}

void add_run(CLI::App* command, commands::RunOptions& options) {
  add_target(command, options);
  add_limits(command, options);
  command->add_option("--seed", options.seed, "Seed of all cases (1)")->transform(whole_number());
  command
      ->add_option("--cases", options.cases,
                   "Number of cases (of compile: of graphs beside all cells, 2000)")
      ->transform(whole_number(1, kMostCases));
  command->add_option("--time", options.seconds, "No new cases after so many seconds")
      ->check(positive_number());
  command
      ->add_option("--budget", options.budget,
                   "A time by name: smoke (30 s), ci (5 min), nightly (4 h)")
      ->check(CLI::IsMember({"smoke", "ci", "nightly"}))
      ->excludes("--time");
  command->add_flag("--resume", options.resume, "Go on with the run whose folder --report names");
  command->add_flag("--no-vote", options.no_vote,
                    "Other installed plugins are not asked about the shrunk failures");
  command->add_flag("--no-recheck", options.no_recheck,
                    "No sample of the passing cases runs again in fresh processes");
  command->add_option("--jobs", options.jobs, "Worker processes (1)")
      ->transform(whole_number(1, 256));
  command->add_option("--report", options.report,
                      "Folder for report.json, report.html, junit.xml and reproducers");
  command->add_option(
      "--regressions", options.regressions,
      "Folder of reproducer files: run replays them, new shrunk failures join them");
  command->add_option("--stop-after", options.stop_after, "No new cases after so many failures")
      ->transform(whole_number_of<int>(1));
  command->add_flag("--stats", options.stats,
                    "How many programs held each pattern that is looked for, on standard output");
  command->add_flag("--no-shrink", options.no_shrink, "Failures are named by their case only");
  command->add_option("--expectations", options.expectations,
                      "File of unsupported and xfail lines");
}

void add_selftest(CLI::App* command, selftest::SelftestOptions& options) {
  command->add_option("--time", options.seconds, "Seconds of new cases for each variant (30)")
      ->check(positive_number());
  command->add_option("--jobs", options.jobs, "Variants at the same time (one a core)")
      ->transform(whole_number(1, 256));
  command->add_option("--seed", options.seed, "Seed of all cases (1)")->transform(whole_number());
  command->add_option("--only", options.only, "Names of variants, as exp2_ln2,tail_skipped")
      ->delimiter(',');
  command->add_option("--report", options.report, "Folder for selftest.json, logs, reproducers");
  command->add_flag("--json", options.json, "Facts as JSON on standard output");
  command->add_option("--one", options.one)->group("");
}

int exit_code(tenon::ErrorKind kind) {
  switch (kind) {
    case tenon::ErrorKind::kInvalid:
      return kExitUsage;
    case tenon::ErrorKind::kUnsupported:
    case tenon::ErrorKind::kEnvironment:
    case tenon::ErrorKind::kOutOfMemory:
    case tenon::ErrorKind::kDeviceLost:
    case tenon::ErrorKind::kInternal:
      return kExitEnvironment;
  }
  return kExitEnvironment;
}

int tenon_conformance(int argc, char** argv) {
  tenon::quiet_drivers();
  CLI::App app{
      "Says whether a Tenon backend can be trusted: runs ops and graphs on it and compares with "
      "the "
      "reference.\nExit codes: 0 ok, 1 failures, 2 usage or input, 3 environment, 4 device lost, 5 "
      "device in doubt, 6 a case of this tool was not legal, 7 nothing was tried, 8 less than one "
      "case an op and dtype was tried, 130 and 143 "
      "stopped by SIGINT or SIGTERM without failures so far.",
      "tenon-conformance"};
  app.failure_message(tenon::cli::failure_text);
  app.require_subcommand(1);
  app.set_version_flag("--version", "tenon-conformance " TENON_VERSION);
  commands::RunOptions options;
  std::string what, other, folder;
  double factor = 2;
  CLI::App* list = app.add_subcommand("list", "Print the cells of op, dtype and layout");
  list->add_flag("--json", options.json, "As JSON");
  CLI::App* run = app.add_subcommand("run", "Every cell, and a fixed number of graphs");
  add_run(run, options);
  const auto add_only = [&](CLI::App* command) {
    command
        ->add_option("--only", options.only,
                     "Only these checks, ops, families of patterns or patterns, as atomics,add; "
                     "what is not known is told which names there are")
        ->delimiter(',');
  };
  add_only(run);
  CLI::App* fuzz = app.add_subcommand("fuzz", "Random cells and graphs, from a seed");
  add_run(fuzz, options);
  add_only(fuzz);
  fuzz->add_option("--first", options.first, "Number of the first case (0)")
      ->transform(whole_number(0, kMostCases));
  fuzz->add_option("--layers", options.layers,
                   "Only cases of these: cells, graphs, transforms, sequences, checks, gradients, "
                   "patterns")
      ->delimiter(',');
  CLI::App* compile = app.add_subcommand(
      "compile", "Compiles every cell and many graphs for a target that need not be there");
  add_run(compile, options);
  compile->add_option("--target", options.target, "Name of the target, as sm_90a or gfx90a")
      ->required();
  compile->add_option("--keep", options.keep,
                      "Folder for programs, sources, binaries, and their registers and spills");
  CLI::App* gradients = app.add_subcommand(
      "gradients",
      "Proves the core's gradients of random graphs by central differences; needs no "
      "backend");
  gradients->add_option("--seed", options.seed, "Seed of all graphs (1)")
      ->transform(whole_number());
  gradients->add_option("--first", options.first, "Number of the first graph (0)")
      ->transform(whole_number(0, kMostCases));
  gradients->add_option("--cases", options.cases, "Number of graphs (1000)")
      ->transform(whole_number(1, kMostCases));
  gradients->add_flag("--json", options.json, "Facts as JSON on standard output");
  CLI::App* replay = app.add_subcommand("replay", "One case again");
  replay->add_option("case", what, "A reproducer file, or SEED:INDEX")->required();
  add_target(replay, options);
  replay->add_option("--target", options.target, "Of a case of compile");
  add_limits(replay, options);
  CLI::App* train = app.add_subcommand(
      "train", "Trains small models on the plugin, each step beside the reference");
  std::vector<std::string> models;
  train->add_option("model", models,
                    "perceptron, convolution, attention or counters; all if there is none");
  add_target(train, options);
  add_limits(train, options);
  train->add_option("--seed", options.seed, "Seed of weights and examples (1)")
      ->transform(whole_number());
  train->add_option("--steps", options.steps, "Steps of each model (200)")
      ->transform(whole_number(1, kMostSteps));
  train->add_option("--report", options.report, "Folder for the reproducers of what fails");
  CLI::App* report = app.add_subcommand("report", "The other forms of a report.json");
  report->add_option("file", what, "report.json")->required();
  report->add_option("--report", folder, "Folder to write; without it a summary is printed");
  selftest::SelftestOptions selftest_options;
  CLI::App* selftest = app.add_subcommand("selftest", "How many planted bugs the fuzzer finds");
  add_selftest(selftest, selftest_options);
  CLI::App* compare = app.add_subcommand("compare", "What changed between two report.json");
  compare->add_option("before", what, "report.json of the version before")->required();
  compare->add_option("after", other, "report.json of the version after")->required();
  compare
      ->add_option("--factor", factor,
                   "By how much a worst error or the rate must change to count (2)")
      ->check(positive_number(1, 1e6));
  compare->add_flag("--json", options.json, "As JSON");
  CLI::App* worker = app.add_subcommand("worker", "Internal: serves a parent process")->group("");
  add_target(worker, options);
  worker->add_option("--target", options.target);
  worker->add_option("--keep", options.keep);
  CLI::App* isolated =
      app.add_subcommand("isolated", "Internal: shows a plugin to a fresh process")->group("");
  add_target(isolated, options);
  abi::IsolatedOptions isolated_options;
  isolated->add_option("--host", isolated_options.host);
  isolated->add_option("--saved", isolated_options.saved);
  isolated->add_flag("--ways", isolated_options.has_ways);
  isolated->add_flag("--leaves-open", isolated_options.leaves_open);

  const std::vector<const char*> words = tenon::cli::with_help_words(argc, argv);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (tenon::cli::complain_of_command(app, "tenon-conformance", words)) return kExitUsage;
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  try {
    if (*list) return commands::list_command(options.json);
    if (*run) return commands::run_command(options, false);
    if (*fuzz) return commands::run_command(options, true);
    if (*compile) return commands::compile_command(options);
    if (*gradients) return commands::gradients_command(options);
    if (*replay) return commands::replay_command(options, what);
    if (*train) return commands::train_command(options, models);
    if (*report) return commands::report_command(what, folder);
    if (*compare) return commands::compare_command(what, other, factor, options.json);
    if (*selftest) return selftest::selftest_command(selftest_options);
    Target target{options.backend, std::nullopt, options.target, options.keep};
    if (!options.plugin.empty()) target.plugin = options.plugin;
    if (*isolated) {
      constexpr int kResult = 3;
      abi::run_isolated_process(target, kResult, isolated_options);
      return kExitOk;
    }
    return worker::serve(target);
  } catch (const tenon::Error& error) {
    tenon::complain("tenon-conformance", error.what());
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    tenon::complain("tenon-conformance", error.what());
    return kExitEnvironment;
  }
}

}  // namespace

int main(int argc, char** argv) {
  tenon::open_standard_streams();
  const int code = tenon_conformance(argc, argv);
  return tenon::finish_output("tenon-conformance", code, kExitEnvironment);
}
