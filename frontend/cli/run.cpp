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

#include "core/ir/text/model.hpp"
#include "core/ir/text/text.hpp"
#include "core/runtime/runtime.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/check.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/device_options.hpp"
#include "frontend/cli/inputs.hpp"
#include "frontend/cli/number_option.hpp"
#include "tenon/npy.hpp"

namespace tenon::cli {
namespace {

constexpr size_t kMostFileName = 255 - 4;  ///< with .npy after it

constexpr uint64_t kProfiledRuns = 10;

struct RunOptions {
  std::string file, output_dir;
  DeviceOptions devices;
  InputOptions inputs;
  uint64_t seed = 0;
  uint64_t repeat = 0;  ///< 0: as often as it takes
  bool reference = false, check = false, profile = false, json = false;
};

struct Outcome {
  std::string device;
  std::vector<Array> outputs;
  RunStats stats;
  CheckResult check;
  KernelProfile profile;
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

Graph read_graph(const RunOptions& options, Builder& builder, InputOptions& inputs) {
  const std::string text = read_file(options.file);
  if (!is_model(text)) return parse_graph(text, builder, options.file);
  Model model = parse_model(text, builder, options.file);
  for (const ModelParameter& parameter : model.parameters)
    inputs.parameters.push_back(parameter.name);
  return std::move(model.graph);
}

Outcome run(RunOptions options) {
  Outcome outcome;
  if (options.reference) {
    Builder builder;
    const Graph graph = read_graph(options, builder, options.inputs);
    outcome.names = output_names(graph, options);
    const GraphInputs inputs = load_inputs(graph, options.inputs);
    outcome.device = "reference";
    outcome.outputs = evaluate(graph, inputs.arrays, inputs.symbols);
  } else {
    RuntimeOptions runtime_options(options.devices.context());
    if (options.profile) runtime_options.profile = true;
    Runtime runtime(runtime_options);
    const Graph graph = read_graph(options, runtime.builder(), options.inputs);
    outcome.names = output_names(graph, options);
    const GraphInputs inputs = load_inputs(graph, options.inputs);
    outcome.device = runtime.device().id();
    const uint64_t standard = options.profile ? kProfiledRuns : 1;
    const uint64_t runs = options.repeat > 0 ? options.repeat : standard;
    for (uint64_t i = 0; i < runs; ++i) {
      RunStats stats;
      outcome.outputs = runtime.run(graph, inputs.arrays, inputs.symbols, "", &stats);
      outcome.stats = i == 0 ? stats : outcome.stats;
      outcome.stats.run_ms = stats.run_ms;
    }
    if (options.profile) outcome.profile = runtime.profile();
    if (options.check) {
      outcome.check = check_outputs(runtime.as_run(graph), inputs, outcome.outputs,
                                    runtime.device().capabilities());
    }
  }
  save_outputs(options, outcome);
  return outcome;
}

nlohmann::json json_of(const KernelProfile& profile) {
  nlohmann::json devices = nlohmann::json::array(), kernels = nlohmann::json::array();
  for (const DeviceRates& rates : profile.devices)
    devices.push_back({{"device", rates.device},
                       {"clock", rates.by_device ? "device" : "host"},
                       {"launch_seconds", rates.launch_seconds},
                       {"bytes_per_second", rates.bytes_per_second},
                       {"flops_per_second", rates.flops_per_second}});
  for (const KernelTime& time : profile.kernels)
    kernels.push_back({{"graph", time.graph},
                       {"kernel", time.kernel},
                       {"device", time.device},
                       {"work", time.work},
                       {"launches", time.launches},
                       {"first_seconds", time.first_seconds},
                       {"seconds", time.seconds},
                       {"least_seconds", time.least_seconds},
                       {"flops", time.flops},
                       {"bytes", time.bytes},
                       {"share_of_limit", time.share_of_limit}});
  return {{"devices", devices}, {"kernels", kernels}};
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
  if (options.profile) result["profile"] = json_of(outcome.profile);
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
  if (options.profile) say("{}", Lines{to_string(outcome.profile)});
  if (options.check) print_check(outcome.check);
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
  command->add_option("--weights", options->inputs.weights,
                      "Values of params by their names, .safetensors");
  CLI::Option* devices = options->devices.add(command);
  command->add_option("--output-dir,-o", options->output_dir, "Folder for NAME.npy of each output");
  CLI::Option* reference = command
                               ->add_flag("--reference", options->reference,
                                          "Run on the reference tensor instead of a device")
                               ->excludes(devices);
  command
      ->add_flag("--check", options->check, "Compare with the reference; exit 1 where it differs")
      ->excludes(reference);
  command
      ->add_flag("--profile", options->profile,
                 "Run each kernel alone and print what it takes (docs/profiling.md)")
      ->excludes(reference);
  command
      ->add_option("--repeat", options->repeat,
                   "Times to run the graph; of time, the last run's is told. Otherwise 10 with "
                   "--profile, 1 without")
      ->transform(whole_number(1))
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
