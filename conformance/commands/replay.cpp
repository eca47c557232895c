// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// replay: one case again, from a reproducer file or from SEED:INDEX, in a worker as always.
#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/commands/commands.hpp"
#include "conformance/report/report.hpp"
#include "conformance/worker/worker_client.hpp"
#include "core/ir/text.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

bool names_case(const std::string& what) {
  return !std::filesystem::exists(what) &&
         what.find_first_not_of("0123456789:") == std::string::npos;
}

}  // namespace

int replay_command(const RunOptions& options, const std::string& what) {
  Builder builder;
  RunOptions chosen = options;
  Finished finished;
  std::string text, graph;
  std::pair<uint64_t, uint64_t> name;
  if (names_case(what)) {
    name = parse_case_name(what);
    Generator generator(name.first, builder);
    const bool is_compiled = name.second >= kCompileBase;
    TN_REQUIRE(is_compiled != options.target.empty(),
               "[replay] expected --target with a case of compile, and only with one");
    graph = print(is_compiled ? generator.make_plain(name.second).graph
                              : generator.make(name.second).graph);
  } else {
    text = read_file(what);
    const Reproducer reproducer = parse_reproducer(text, builder, what);
    name = {reproducer.test.seed, reproducer.test.index};
    finished.cell = reproducer.test.cell;
    graph = print(reproducer.test.graph);
    if (chosen.backend.empty() && chosen.plugin.empty())
      (reproducer.backend.ends_with(".so") ? chosen.plugin : chosen.backend) = reproducer.backend;
  }
  WorkerOptions worker;
  worker.program = own_program();
  worker.target = make_target(chosen);
  worker.run_seconds = options.run_seconds;
  worker.compile_seconds = options.compile_seconds;
  WorkerClient client(worker);
  client.start();
  if (text.empty()) {
    client.give_range(name.first, name.second, name.second + 1);
    for (bool done = false; !done;)
      for (Finished& one : client.poll(1)) {
        finished = std::move(one);
        done = true;
      }
  } else {
    finished.outcome = client.run_text(text);
  }
  const Outcome& outcome = finished.outcome;
  if (options.json)
    fmt::print("{{\"case\":\"{}\",\"status\":\"{}\",\"kind\":\"{}\",\"text\":\"{}\"}}\n",
               case_name(name.first, name.second), status_name(outcome.status),
               escaped(outcome.kind), escaped(outcome.text));
  else
    fmt::print("{}\n{} {} {} {} {}{}{}\n", graph, status_name(outcome.status),
               case_name(name.first, name.second), finished.cell.op, finished.cell.dtype,
               finished.cell.layout, outcome.text.empty() ? "" : ": ", outcome.text);
  return is_failure(outcome.status) ? kExitFailures : kExitOk;
}

}  // namespace tenon::conformance
