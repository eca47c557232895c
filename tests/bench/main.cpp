// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-bench: exit codes 0 all results right, 1 a wrong result, 2 bad usage, 3 environment.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "core/plugin/driver_noise.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/failure_text.hpp"
#include "tests/bench/limits.hpp"
#include "tests/bench/peer_process.hpp"
#include "tests/bench/suite.hpp"

namespace {

enum ExitCode { kRight = 0, kWrong = 1, kUsage = 2, kEnvironmentFault = 3 };

struct BenchOptions {
  std::string only, peers, baseline, device;
  bool json = false;
  double seconds = 0;
  int runs = 1;
};

constexpr double kQuiet = 0.3;  ///< load of a machine whose rates mean something

void bench_host(tenon::bench::Suite& suite, tenon::bench::PeerProcess* peers) {
  using namespace tenon::bench;
  bench_workloads(suite, peers);
  bench_models(suite, peers);
  bench_memory(suite);
  bench_overhead(suite);
  bench_launches(suite, peers);
  bench_arrays(suite);
  bench_training(suite);
  bench_updates(suite);
  bench_fresh(suite);
}

int run(const BenchOptions& options) {
  using namespace tenon::bench;
  Report report;
  const std::string before = options.baseline.empty() ? "" : tenon::read_file(options.baseline);
  if (!before.empty()) report.moved_since(before);  // refused before anything is measured
  std::optional<PeerProcess> peers;
  if (!options.peers.empty()) peers.emplace(options.peers);
  if (peers)
    for (const std::string& missing : peers->missing()) tenon::complain("tenon-bench", missing);
  Suite suite(report, options.only, options.seconds);
  report.machine = describe_machine();
  if (report.machine.load > kQuiet)
    tenon::complain("tenon-bench",
                    fmt::format("{:.1f} processes were running in the minute before: rates say "
                                "little, and ratios less than they should",
                                report.machine.load));
  report.limits = measure_limits(suite.most_threads());
  PeerProcess* const beside = peers ? &*peers : nullptr;
  for (int run = 0; run < options.runs; ++run) {
    if (options.device.empty()) bench_host(suite, beside);
    bench_devices(suite, beside, options.device);
  }
  report.merge_runs();
  if (report.rows.empty() && report.not_run.empty()) {
    tenon::complain(
        "tenon-bench",
        fmt::format("[--only] expected an expression that finds a row, got \"{}\"", options.only));
    return kUsage;
  }
  tenon::write_output(options.json ? report.json() : tenon::printable(report.table()));
  if (!before.empty())
    tenon::complain("tenon-bench", "moved since the baseline:\n" + report.moved_since(before));
  return report.correct() ? kRight : kWrong;
}

int tenon_bench(int argc, char** argv) {
  tenon::quiet_drivers();
  CLI::App app{"Measures Tenon beside the machine's limits and beside peers, in one run."};
  app.failure_message(tenon::cli::failure_text);
  BenchOptions options;
  app.add_flag("--json", options.json, "Print JSON instead of a table");
  app.add_option("--only", options.only,
                 "Run only rows whose name has a match of this regular expression");
  app.add_option("--peers", options.peers,
                 "A Python interpreter with PyTorch or tinygrad, to measure them in the same run");
  app.add_option("--baseline", options.baseline,
                 "What --json printed before: say on standard error what has moved since")
      ->check(CLI::ExistingFile);
  app.add_option("--runs", options.runs,
                 "Measure all so often: a row is that of the median ratio, beside the lowest")
      ->check(CLI::Range(1, 1000));
  app.add_option("--device", options.device,
                 "Run only rows on this device, as cuda:0, and the models on it");
  app.add_option("--time", options.seconds, "Begin no row but the first after so many seconds")
      ->check(CLI::PositiveNumber);
  std::string first_result;
  app.add_option("--first-result", first_result, "Internal: one of the processes that are timed")
      ->group("");
  app.set_version_flag("--version", "tenon-bench " TENON_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kRight : kUsage;
  }
  try {
    return first_result.empty() ? run(options) : tenon::bench::print_first_result(first_result);
  } catch (const tenon::Error& error) {
    tenon::complain("tenon-bench", error.what());
    if (error.kind() == tenon::ErrorKind::kInvalid) return kUsage;
    return error.kind() == tenon::ErrorKind::kInternal ? kWrong : kEnvironmentFault;
  } catch (const std::exception& error) {
    tenon::complain("tenon-bench", error.what());
    return kEnvironmentFault;
  }
}

}  // namespace

int main(int argc, char** argv) {
  tenon::open_standard_streams();
  return tenon::finish_output("tenon-bench", tenon_bench(argc, argv), kEnvironmentFault);
}
