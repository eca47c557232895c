// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon show: a graph at each stage of its way to the device, and what a device makes of a program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/compile/compiler.hpp"
#include "core/device/target_compiler.hpp"
#include "core/ir/text/text.hpp"
#include "core/runtime/runtime.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/budget_text.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/program_file.hpp"
#include "frontend/cli/survey.hpp"
#include "sdk/program/text.hpp"

namespace tenon::cli {
namespace {

struct ShowOptions {
  std::string file, stage = "schedule", devices, backend, target;
  std::string transforms_text;
  std::optional<WrittenTransforms> transforms;  ///< an empty list is one: plain loops
  std::vector<std::string> on;                  ///< "x=cpu:0"
  bool json = false;
  std::string text;                    ///< of the file
  std::vector<sdk::Program> programs;  ///< that it holds in place of a graph
};

/// `--stage all`: the text after each pass.
class PassTexts : public PassObserver {
 public:
  void saw(const PassReport& report) override {
    texts.push_back(fmt::format("== {}: {} ({}), {:.3f} ms\n{}", report.subject,
                                pass_info(report.pass).name, pass_info(report.pass).gives,
                                report.ms, report.text()));
  }
  std::vector<std::string> texts;
};

/// One kernel at a stage below the schedule.
std::string show_kernel(const KernelCall& call, const ShowOptions& options,
                        const TargetCompiler& target, const Compiler& compiler) {
  std::unique_ptr<TransformChooser> chooser = std::make_unique<TemplateChooser>();
  if (options.transforms) chooser = std::make_unique<WrittenChooser>(*options.transforms);
  const LoweredKernel kernel = [&] {
    try {
      return compiler.lower(call, target.capabilities(), *chooser, 0, "kernel");
    } catch (const Error& error) {
      fail(error.kind(), "[show] kernel {}: {}", call.graph.name, error.what());
    }
  }();
  if (options.stage == "all") return {};  // was told of it all
  if (options.stage == "kernel") return print(kernel.chosen);
  if (options.stage == "program") return sdk::print_program(kernel.program.view());
  if (options.stage == "budget") return budget_text(kernel, target);
  return target.compile(*kernel.program.get())
      .text(options.stage == "asm" ? TN_TEXT_ASSEMBLY : TN_TEXT_SOURCE);
}

/// For a target that need not be there.
std::vector<std::string> show_target(const ShowOptions& options, PassObserver* observer) {
  const Discovery found = installed_plugins();
  expect_probed(found, options.backend);
  const TargetCompiler target(found, options.backend, options.target);
  Builder builder;
  const Compiler compiler(builder, {.observer = observer});
  const Graph graph = parse_graph(options.text, builder, options.file);
  ScheduleOptions schedule_options;
  schedule_options.devices.push_back({target.who(), target.capabilities()});
  const Schedule cut = compiler.schedule(graph, schedule_options);
  if (options.stage == "schedule") return {print(cut)};
  std::vector<std::string> texts;
  each_kernel(cut, [&](const KernelCall& call, int) {
    texts.push_back(show_kernel(call, options, target, compiler));
  });
  return texts;
}

/// What would be taken and do nothing.
void refuse_idle_options(const ShowOptions& options) {
  const auto refuse = [&](bool given, const char* option, const char* wanted) {
    TN_REQUIRE(!given, "[show] expected {} with {}, got --stage {}{}", option, wanted,
               options.stage, options.target.empty() ? "" : " and --target");
  };
  const bool graph = options.stage == "graph", schedule = options.stage == "schedule";
  refuse(graph && !options.devices.empty(), "--devices", "a stage after graph");
  refuse(graph && !options.target.empty(), "--backend and --target", "a stage after graph");
  refuse(graph && !options.on.empty(), "--on", "a stage after graph");
  refuse(!options.target.empty() && !options.on.empty(), "--on", "devices");
  refuse((graph || schedule) && options.transforms.has_value(), "--transforms",
         "a stage after schedule");
}

/// Where inputs live, by --on.
std::map<std::string, std::string> places_of(const ShowOptions& options) {
  std::map<std::string, std::string> places;
  for (const std::string& place : options.on) {
    const size_t equals = place.find('=');
    TN_REQUIRE(equals != std::string::npos, "[show] expected --on INPUT=DEVICE, got '{}'", place);
    const bool inserted = places.emplace(place.substr(0, equals), place.substr(equals + 1)).second;
    TN_REQUIRE(inserted, "[show] expected --on once for each input, got '{}' twice",
               place.substr(0, equals));
  }
  return places;
}

std::vector<std::string> show_devices(const ShowOptions& options, PassObserver* observer) {
  RuntimeOptions runtime_options;
  if (!options.devices.empty()) runtime_options.devices = options.devices;
  runtime_options.observer = observer;
  Runtime runtime(runtime_options);
  const Graph graph = parse_graph(options.text, runtime.builder(), options.file);
  const Schedule cut = runtime.schedule_for(graph, places_of(options));
  if (options.stage == "schedule") return {print(cut)};
  std::vector<std::string> texts;
  each_kernel(cut, [&](const KernelCall& call, int device) {
    // Compiled anew: an executable from the cache may have lost its source.
    const TargetCompiler target(runtime.device(cut.devices.at(static_cast<size_t>(device))));
    texts.push_back(show_kernel(call, options, target, runtime.compiler()));
  });
  return texts;
}

/// What a device makes of programs that are written down.
std::vector<std::string> show_programs(const ShowOptions& options) {
  const bool is_compiled = options.stage == "source" || options.stage == "asm";
  TN_REQUIRE(is_compiled || options.stage == "program",
             "[show] expected --stage program, source or asm of a file of programs, got {}",
             options.stage);
  TN_REQUIRE(options.on.empty() && !options.transforms,
             "[show] expected --on and --transforms with a graph, got a file of programs");
  TN_REQUIRE(is_compiled || (options.devices.empty() && options.target.empty()),
             "[show] expected --devices, --backend and --target with --stage source or asm, got "
             "--stage program of a file of programs");
  std::vector<std::string> texts;
  if (!is_compiled) {
    for (const sdk::Program& program : options.programs)
      texts.push_back(sdk::print_program(program.view()));
    return texts;
  }
  std::optional<Runtime> runtime;
  std::optional<TargetCompiler> target;
  if (options.target.empty()) {
    RuntimeOptions runtime_options;
    if (!options.devices.empty()) runtime_options.devices = options.devices;
    target.emplace(runtime.emplace(runtime_options).device());
  } else {
    const Discovery found = installed_plugins();
    expect_probed(found, options.backend);
    target.emplace(found, options.backend, options.target);
  }
  for (const sdk::Program& program : options.programs)
    texts.push_back(target->compile(*program.get())
                        .text(options.stage == "asm" ? TN_TEXT_ASSEMBLY : TN_TEXT_SOURCE));
  return texts;
}

std::vector<std::string> show_stage(const ShowOptions& options) {
  TN_REQUIRE(options.backend.empty() == options.target.empty(),
             "[show] expected --backend and --target together, got one of them");
  TN_REQUIRE(options.target.empty() || options.devices.empty(),
             "[show] expected --devices or --target, got both");
  if (!options.programs.empty()) return show_programs(options);
  refuse_idle_options(options);
  if (options.stage == "graph") {  // needs no device
    Builder builder;
    return {print(Compiler(builder).simplify(parse_graph(options.text, builder, options.file)))};
  }
  PassTexts passes;
  PassObserver* observer = options.stage == "all" ? &passes : nullptr;
  std::vector<std::string> texts =
      options.target.empty() ? show_devices(options, observer) : show_target(options, observer);
  return observer ? passes.texts : texts;
}

}  // namespace

void add_show(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("show", "Print a graph, or programs, at a stage of the way to the device");
  auto options = std::make_shared<ShowOptions>();
  command
      ->add_option("file", options->file,
                   "Graph in text form (.tn); or programs, as --stage program prints them, or a "
                   "reproducer of tenon-conformance that has some")
      ->required();
  command
      ->add_option("--stage", options->stage,
                   "What to print; all: after each pass; of programs: program, source or asm")
      ->check(CLI::IsMember(
          {"graph", "schedule", "kernel", "program", "source", "asm", "budget", "all"}))
      ->capture_default_str();
  command->add_option("--devices", options->devices, "Devices, as in TENON_DEVICES");
  command->add_option("--on", options->on, "Where an input lives, as x=cuda:0; may be repeated");
  command->add_option("--backend", options->backend, "Backend of --target, as cuda");
  command->add_option("--target", options->target,
                      "What to compile for, as sm_90a: no device is needed");
  command->add_option("--transforms", options->transforms_text,
                      "Transform list instead of the templates' choice");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, command, &exit_code] {
    options->text = read_file(options->file);
    options->programs = programs_in(options->text, options->file);
    if (command->count("--stage") == 0 && !options->programs.empty()) options->stage = "program";
    // Read first: a graph may have no kernel that would meet it.
    if (command->count("--transforms") > 0) {
      options->transforms.emplace();
      if (options->programs.empty()) refuse_idle_options(*options);
      options->transforms = parse_transforms(options->transforms_text);
    }
    const std::vector<std::string> texts = show_stage(*options);
    if (options->json) {
      say("{}\n", Lines{json_text(nlohmann::json{
                      {"file", options->file}, {"stage", options->stage}, {"texts", texts}})});
    } else {
      for (const std::string& text : texts)
        write_output(printable(text) + (text.ends_with('\n') ? "" : "\n"));
    }
    exit_code = kOk;
  });
}

}  // namespace tenon::cli
