// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon run: a graph in text form on any device, on .npy files, checked against the reference if
// asked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/ir/text.hpp"
#include "core/runtime/runtime.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/check.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/inputs.hpp"
#include "frontend/cli/number_option.hpp"
#include "tenon/npy.hpp"

namespace tenon::cli {
namespace {

constexpr size_t kMostFileName = 255 - 4;  ///< with .npy after it

struct RunOptions {
  std::string file, devices, output_dir;
  InputOptions inputs;
  uint64_t seed = 0;
  bool reference = false, check = false, json = false;
};

struct Outcome {
  std::string device;
  std::vector<Array> outputs;
  RunStats stats;
  CheckResult check;
  std::vector<std::string> names, paths;
};

std::string output_name(const Graph& graph, size_t i) {
  if (i < graph.output_names.size() && !graph.output_names[i].empty()) return graph.output_names[i];
  return fmt::format("out{}", i);
}

/// Names of a graph are any bytes; those of files are not, and two files of one name are one.
std::vector<std::string> output_names(const Graph& graph, const RunOptions& options) {
  std::vector<std::string> names;
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    names.push_back(output_name(graph, i));
    const std::string& name = names.back();
    if (options.output_dir.empty()) continue;
    const bool is_file = name.find('/') == std::string::npos && name.size() <= kMostFileName &&
                         printable_line(name) == name;
    TN_REQUIRE(is_file,
               "[--output-dir] expected output names that are file names of at most {} printable "
               "bytes, got '{}' for output {}",
               kMostFileName, printable_line(name), i);
    const auto [at, inserted] = first.emplace(name, i);
    TN_REQUIRE(inserted,
               "[--output-dir] expected outputs of different names, got '{}' for {} and {}",
               printable_line(name), at->second, i);
  }
  return names;
}

void save_outputs(const RunOptions& options, Outcome& outcome) {
  outcome.paths.resize(outcome.outputs.size());
  if (options.output_dir.empty()) return;
  std::filesystem::create_directories(options.output_dir);
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    outcome.paths[i] =
        (std::filesystem::path(options.output_dir) / (outcome.names[i] + ".npy")).string();
    write_npy(outcome.paths[i], outcome.outputs[i]);
  }
}

Outcome run(const RunOptions& options) {
  Outcome outcome;
  if (options.reference) {
    Builder builder;
    const Graph graph = parse_graph(read_file(options.file), builder, options.file);
    outcome.names = output_names(graph, options);
    const GraphInputs inputs = load_inputs(graph, options.inputs);
    outcome.device = "reference";
    outcome.outputs = evaluate(graph, inputs.arrays, inputs.symbols);
  } else {
    RuntimeOptions runtime_options;
    if (!options.devices.empty()) runtime_options.devices = options.devices;
    Runtime runtime(runtime_options);
    const Graph graph = parse_graph(read_file(options.file), runtime.builder(), options.file);
    outcome.names = output_names(graph, options);
    const GraphInputs inputs = load_inputs(graph, options.inputs);
    outcome.device = runtime.device().id();
    outcome.outputs = runtime.run(graph, inputs.arrays, inputs.symbols, "", &outcome.stats);
    if (options.check) {
      outcome.check = check_outputs(runtime.as_run(graph), inputs, outcome.outputs,
                                    runtime.device().capabilities());
    }
  }
  save_outputs(options, outcome);
  return outcome;
}

void print_json(const RunOptions& options, const Outcome& outcome) {
  nlohmann::json outputs = nlohmann::json::array();
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    outputs.push_back({{"name", outcome.names[i]},
                       {"dtype", dtype_name(outcome.outputs[i].dtype)},
                       {"shape", outcome.outputs[i].shape},
                       {"path", outcome.paths[i]}});
  }
  nlohmann::json result{{"device", outcome.device},
                        {"outputs", outputs},
                        {"kernels", outcome.stats.kernels},
                        {"programs", outcome.stats.programs},
                        {"compile_ms", outcome.stats.compile_ms},
                        {"run_ms", outcome.stats.run_ms},
                        {"arena_bytes", outcome.stats.arena_bytes},
                        {"sum_bytes", outcome.stats.sum_bytes}};
  if (options.check) {
    // null where anything is allowed: JSON has no infinity
    result["check"] = {{"max_ulp", outcome.check.max_ulp},
                       {"allowed_ulp", outcome.check.allowed_ulp},
                       {"share_of_allowed", outcome.check.share},
                       {"max_abs", outcome.check.max_abs},
                       {"ok", outcome.check.ok}};
    if (!outcome.check.ok) result["check"]["reason"] = outcome.check.reason;
  }
  say("{}\n", Lines{json_text(result)});
}

/// An error says nothing without what is allowed: near zero, millions of ULP may be.
void print_check(const CheckResult& check) {
  std::string allowed;
  if (check.max_ulp > 0)
    allowed = std::isfinite(check.allowed_ulp)
                  ? fmt::format(" where {:.3g} are allowed", check.allowed_ulp)
                  : " where any is allowed";
  std::string rest = check.ok ? "" : "\n" + check.reason;
  if (check.ok && check.max_ulp > 0)
    rest = fmt::format("; no element is beyond {:.0f}% of what it may be off", 100 * check.share);
  say("check against the reference: {}, largest error {:.3g} ULP{}, {:.3g} absolute{}\n",
      check.ok ? paint("ok", "32") : paint("FAILED", "31"), check.max_ulp, allowed, check.max_abs,
      Lines{rest});
}

void print_text(const RunOptions& options, const Outcome& outcome) {
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    const Array& array = outcome.outputs[i];
    say("{}: {}[{}] =", outcome.names[i], dtype_name(array.dtype), fmt::join(array.shape, ", "));
    const int64_t shown = std::min<int64_t>(array.count(), 8);
    for (int64_t k = 0; k < shown; ++k) say(" {}", to_string(array.at(k)));
    say("{}{}\n", array.count() > shown ? " ..." : "",
        outcome.paths[i].empty() ? "" : "  -> " + outcome.paths[i]);
  }
  say("{}: {} kernels of {} programs, compiled in {:.2f} ms, ran in {:.3f} ms, arena {} of {} "
      "bytes\n",
      outcome.device, outcome.stats.kernels, outcome.stats.programs, outcome.stats.compile_ms,
      outcome.stats.run_ms, outcome.stats.arena_bytes, outcome.stats.sum_bytes);
  if (!options.check) return;
  print_check(outcome.check);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run a graph in text form");
  auto options = std::make_shared<RunOptions>();
  command->add_option("file", options->file, "Graph in text form (.tn)")->required();
  command->add_option("--input,-i", options->inputs.files, "NAME=FILE.npy, once a param");
  command->add_option("--symbol", options->inputs.symbols, "NAME=VALUE of a symbolic dimension");
  CLI::Option* random = command
                            ->add_option("--random", options->seed,
                                         "Seed: fills params without a file with random values")
                            ->transform(whole_number());
  CLI::Option* devices =
      command->add_option("--devices", options->devices, "Devices, as in TENON_DEVICES");
  command->add_option("--output-dir,-o", options->output_dir, "Folder for NAME.npy of each output");
  CLI::Option* reference = command
                               ->add_flag("--reference", options->reference,
                                          "Run on the reference tensor instead of a device")
                               ->excludes(devices);
  command
      ->add_flag("--check", options->check, "Compare with the reference; exit 1 where it differs")
      ->excludes(reference);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, random, &exit_code] {
    if (random->count() > 0) options->inputs.random = options->seed;
    const Outcome outcome = run(*options);
    if (options->json) {
      print_json(*options, outcome);
    } else {
      print_text(*options, outcome);
    }
    exit_code = options->check && !outcome.check.ok ? kFailures : kOk;
  });
}

}  // namespace tenon::cli
