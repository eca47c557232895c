// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// replay: one case again, from a reproducer file or from SEED:INDEX, in a worker as always.
#include <nlohmann/json.hpp>

#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/commands/commands.hpp"
#include "conformance/report/report.hpp"
#include "conformance/worker/run_reproducer.hpp"
#include "conformance/worker/worker_client.hpp"
#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace tenon::conformance::commands {
namespace {

bool names_case(const std::string& what) {
  return !std::filesystem::exists(what) &&
         what.find_first_not_of("0123456789:") == std::string::npos;
}

std::string text_of(const Case& test) {
  return test.sequence ? abi::print(*test.sequence) : print(test.graph);
}

/// What is to run: the generator's case, or what a file says.
struct Request {
  Case test;
  std::optional<Reproducer> file = {};
};

Request request_of(const std::string& what, RunOptions& options, Builder& builder) {
  if (names_case(what)) {
    const auto [seed, index] = parse_case_name(what);
    const bool is_compiled = index >= kCompileBase && index < kMemoryBase;
    TN_REQUIRE(is_compiled != options.target.empty(),
               "[replay] expected --target with a case of compile, and only with one");
    Generator generator(seed, builder);
    return {is_compiled ? generator.make_plain(index) : generator.make(index)};
  }
  Reproducer file = parse_reproducer(read_file(what), builder, what);
  if (options.backend.empty() && options.plugin.empty()) {
    options.backend = file.backend;
    options.plugin = file.plugin;
  }
  return {file.test, std::move(file)};
}

Finished run(worker::WorkerClient& client, const Request& request) {
  Finished finished;
  finished.index = request.test.index;
  finished.cell = request.test.cell;
  if (request.file) {
    finished.outcome = worker::run_reproducer(client, *request.file);
    return finished;
  }
  client.give_range(request.test.seed, finished.index, finished.index + 1);
  for (;;)
    for (Finished& one : client.poll(1)) return std::move(one);
}

std::string to_json(const std::string& name, const Finished& finished) {
  const Outcome& outcome = finished.outcome;
  nlohmann::ordered_json out;
  out["case"] = name;
  out["op"] = finished.cell.op;
  out["dtype"] = finished.cell.dtype;
  out["layout"] = finished.cell.layout;
  out["status"] = status_name(outcome.status);
  out["kind"] = outcome.kind;
  out["text"] = outcome.text;
  out["digest"] = fmt::format("{:016x}", outcome.digest);  // of every bit of the outputs
  out["diff"] = outcome.diff;
  out["transforms"] = outcome.transforms;
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

int replay_command(const RunOptions& options, const std::string& what) {
  Builder builder;
  RunOptions chosen = options;
  const Request request = request_of(what, chosen, builder);
  worker::WorkerClient client(make_worker(chosen));
  client.start();
  const Finished finished = run(client, request);
  const Outcome& outcome = finished.outcome;
  const std::string name = case_name(request.test.seed, request.test.index);
  const std::string text = text_of(request.test);
  if (options.json)
    write_output(to_json(name, finished) + "\n");
  else
    say("{}\n{} {} {} {} {}{}{}\n{}{}", Lines{text}, status_name(outcome.status), name,
        finished.cell.op, finished.cell.dtype, finished.cell.layout,
        outcome.text.empty() ? "" : ": ", Lines{outcome.text}, Lines{outcome.diff},
        outcome.diff.empty() || outcome.diff.ends_with('\n') ? Lines{""} : Lines{"\n"});
  if (is_failure(outcome.status)) return kExitFailures;
  if (outcome.status == Status::kToolError) return kExitTool;
  return is_tried(outcome.status) ? kExitOk : kExitNothing;
}

}  // namespace tenon::conformance::commands
