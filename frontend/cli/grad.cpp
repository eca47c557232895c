// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon grad: the gradient of a graph in text form, as a graph in text form.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/autodiff/autodiff.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/number_option.hpp"

namespace tenon::cli {
namespace {

struct GradOptions {
  std::string file, output, to;
  std::vector<std::string> wrt;
  uint64_t kept_bytes = static_cast<uint64_t>(GradientOptions().kept_bytes);
  bool json = false;
};

void run(const GradOptions& options) {
  Builder builder;
  const Graph graph = parse_graph(read_file(options.file), builder, options.file);
  GradientOptions how;
  how.kept_bytes = static_cast<int64_t>(options.kept_bytes);
  const Graph gradient =
      gradient_graph(graph, output_number(graph, options.output), options.wrt, builder, how);
  verify(gradient);
  const std::string text = print(gradient);
  if (!options.to.empty()) write_file(options.to, text);
  if (options.json) {
    const nlohmann::json facts{
        {"graph", text}, {"path", options.to}, {"outputs", gradient.output_names}};
    say("{}\n", Lines{json_text(facts)});
  } else if (options.to.empty()) {
    say("{}", Lines{text});
  }
}

}  // namespace

void add_grad(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GradOptions>();
  CLI::App* command = app.add_subcommand(
      "grad", "Write the graph that gives an output and its gradient by some inputs");
  command->add_option("file", options->file, "A graph in text form")->required();
  command
      ->add_option("--wrt", options->wrt,
                   "Inputs to differentiate by; may be given more than once, or as a list a,b")
      ->required()
      ->delimiter(',');
  command->add_option("--output", options->output,
                      "The output that is differentiated; otherwise the first. If it has more than "
                      "one element, the graph takes its seed d_OUTPUT as the last input");
  command->add_option("-o,--to", options->to,
                      "Where the graph is written; otherwise it is printed");
  command
      ->add_option("--kept-bytes", options->kept_bytes,
                   "States of a loop that are kept; a longer loop is run again in segments")
      ->check(whole_number(0, INT64_MAX));
  command->add_flag("--json", options->json, "Print the graph as JSON");
  command->callback([options, &exit_code] {
    run(*options);
    exit_code = kOk;
  });
}

}  // namespace tenon::cli
