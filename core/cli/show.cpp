// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon show: a graph at each stage of its way to the device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/cli/cli.hpp"
#include "core/ir/text.hpp"
#include "core/lower/lower.hpp"
#include "core/rewrite/passes.hpp"
#include "core/runtime/context.hpp"
#include "core/support/error.hpp"
#include "sdk/helpers/program_text.hpp"

namespace tenon::cli {
namespace {

struct ShowOptions {
  std::string file, stage = "schedule", devices, transforms;
  bool json = false;
};

/// What a plugin says of one program, compiled anew: a loaded executable may have lost its source.
std::string plugin_text(Device& device, const tn_program* program, tn_text_kind kind) {
  const tn_plugin& plugin = device.plugin();
  tn_target target = TN_INIT(tn_target);
  target.device = device.handle();
  tn_error error = TN_INIT(tn_error);
  tn_executable* executable = nullptr;
  if (plugin.compile(&target, program, nullptr, &executable, &error) != TN_OK) {
    fail(ErrorKind::kUnsupported, "[{}] expected to compile, got: {}", device.id(), error.message);
  }
  std::string text;
  const auto append = [](void* user, const void* bytes, size_t size) {
    static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
  };
  const int32_t status = plugin.executable_text == nullptr
                             ? static_cast<int32_t>(TN_ERROR_UNSUPPORTED)
                             : plugin.executable_text(executable, kind, append, &text, &error);
  plugin.executable_destroy(executable);
  if (status != TN_OK) {
    fail(ErrorKind::kUnsupported, "[{}] expected {} text, but the plugin gives none{}{}",
         device.id(), kind == TN_TEXT_SOURCE ? "source" : "assembly",
         error.message[0] != '\0' ? ": " : "", error.message);
  }
  return text;
}

/// Each kernel of the schedule (sub-schedules too) passed through `show`.
template <class Show>
void each_kernel(const Schedule& schedule, std::vector<std::string>& texts, const Show& show) {
  for (const Step& step : schedule.steps) {
    if (const auto* kernel = std::get_if<KernelCall>(&step.call)) {
      texts.push_back(show(*kernel, step.device));
    } else if (const auto* branch = std::get_if<IfCall>(&step.call)) {
      each_kernel(*branch->then_schedule, texts, show);
      each_kernel(*branch->else_schedule, texts, show);
    } else if (const auto* loop = std::get_if<LoopCall>(&step.call)) {
      each_kernel(*loop->body, texts, show);
    }
  }
}

std::vector<std::string> show_stage(const ShowOptions& options) {
  Builder own_builder;
  if (options.stage == "graph") {  // needs no device
    return {print(
        simplify(parse_graph(read_file(options.file), own_builder, options.file), own_builder))};
  }
  ContextOptions context_options;
  if (!options.devices.empty()) context_options.devices = options.devices;
  Context context(context_options);
  const Graph graph = parse_graph(read_file(options.file), context.builder(), options.file);
  const Schedule schedule = context.schedule_for(graph);
  if (options.stage == "schedule") return {print(schedule)};
  std::vector<std::string> texts;
  each_kernel(schedule, texts, [&](const KernelCall& call, int device_index) {
    Device& device = context.device(schedule.devices.at(static_cast<size_t>(device_index)));
    const Graph legal = legalise(call.graph, device.capabilities(), context.builder());
    LowerOptions lower_options;
    lower_options.alias = call.alias;
    lower_options.transforms = options.transforms;
    if (options.stage == "kernel") return print_kernel(legal, device.capabilities(), lower_options);
    const LoweredKernel kernel = lower_kernel(legal, device.capabilities(), lower_options);
    if (options.stage == "program") return sdk::print_program(kernel.program.view());
    return plugin_text(device, kernel.program.get(),
                       options.stage == "asm" ? TN_TEXT_ASSEMBLY : TN_TEXT_SOURCE);
  });
  return texts;
}

}  // namespace

void add_show(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("show", "Print a graph at a stage of its way to the device");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("file", options->file, "Graph in text form (.tn)")->required();
  command->add_option("--stage", options->stage, "What to print")
      ->check(CLI::IsMember({"graph", "schedule", "kernel", "program", "source", "asm"}))
      ->capture_default_str();
  command->add_option("--devices", options->devices, "Devices, as in TENON_DEVICES");
  command->add_option("--transforms", options->transforms,
                      "Transform list instead of the rules' choice");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &exit_code] {
    const std::vector<std::string> texts = show_stage(*options);
    if (options->json) {
      fmt::print(
          "{}\n",
          nlohmann::json{{"file", options->file}, {"stage", options->stage}, {"texts", texts}}.dump(
              2));
    } else {
      for (const std::string& text : texts)
        fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
    }
    exit_code = kOk;
  });
}

}  // namespace tenon::cli
