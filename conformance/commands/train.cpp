// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// train: small models learn on the plugin, in a worker as always, each step beside the reference.
#include <nlohmann/json.hpp>

#include "conformance/cases/files.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/cases/training.hpp"
#include "conformance/commands/commands.hpp"
#include "conformance/worker/worker_client.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance::commands {

int train_command(const RunOptions& options, const std::vector<std::string>& what) {
  const std::vector<std::string> names =
      what.empty() ? std::vector<std::string>(std::begin(kTrainingNames), std::end(kTrainingNames))
                   : what;
  Builder builder;
  std::vector<Reproducer> all;
  for (const std::string& name : names)
    all.push_back({make_training(name, options.seed, options.steps, builder), {}, options.backend});
  if (!options.report.empty()) std::filesystem::create_directories(options.report);
  const worker::WorkerOptions worker = make_worker(options);
  worker::WorkerClient client(worker);
  client.start();
  auto facts = nlohmann::ordered_json::object();
  facts["device"] = client.facts().id;
  facts["steps"] = options.steps;
  facts["models"] = nlohmann::ordered_json::array();
  bool any = false, is_illegal = false, any_tried = false;
  for (size_t i = 0; i < all.size(); ++i) {
    const Outcome& outcome = all[i].outcome = client.run_text(write_reproducer(all[i]));
    const bool is_wrong = is_failure(outcome.status);
    any |= is_wrong;
    is_illegal |= outcome.status == Status::kToolError;
    any_tried |= is_tried(outcome.status);
    std::string file;
    if (is_wrong && !options.report.empty()) {
      const auto path =
          std::filesystem::path(options.report) / fmt::format("train-{}.tn", names[i]);
      if (options.backend.empty()) all[i].backend = worker.target.backend;
      if (worker.target.plugin) all[i].plugin = worker.target.plugin->string();
      write_file(path, write_reproducer(all[i]));
      file = path.string();
    }
    facts["models"].push_back({{"name", names[i]},
                               {"status", status_name(outcome.status)},
                               {"kind", outcome.kind},
                               {"text", outcome.text},
                               {"worst_ulp", outcome.worst_ulp},
                               {"digest", fmt::format("{:016x}", outcome.digest)},
                               {"file", file}});
    if (options.json) continue;
    say("{} {:<12} {}\n{}{}", paint(status_name(outcome.status), is_wrong ? "31;1" : "32"),
        names[i], Lines{outcome.text}, Lines{outcome.diff},
        Lines{outcome.diff.empty() ? "" : "\n"});
    if (!file.empty()) say("    tenon-conformance replay {}\n", file);
  }
  if (options.json)
    write_output(facts.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                 "\n");
  if (any) return kExitFailures;
  if (is_illegal) return kExitTool;
  return any_tried ? kExitOk : kExitNothing;
}

}  // namespace tenon::conformance::commands
