// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-bench: exit codes 0 all results right, 1 a wrong result, 2 bad usage, 3 environment.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <regex>

#include "core/plugin/driver_noise.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/failure_text.hpp"
#include "tests/bench/limits.hpp"
#include "tests/bench/suite.hpp"

namespace {

enum ExitCode { kRight = 0, kWrong = 1, kUsage = 2, kEnvironmentFault = 3 };

int run(const std::string& only, bool json) {
  using namespace tenon::bench;
  Report report;
  Suite suite(report, only);
  report.machine = describe_machine();
  report.limits = measure_limits(suite.most_threads());
  bench_sgemm(suite);
  bench_memory(suite);
  bench_overhead(suite);
  bench_arrays(suite);
  bench_training(suite);
  bench_updates(suite);
  bench_fresh(suite);
  bench_devices(suite);
  if (report.rows.empty()) {
    tenon::complain(
        "tenon-bench",
        fmt::format("[--only] expected an expression that finds a row, got \"{}\"", only));
    return kUsage;
  }
  tenon::write_output(json ? report.json() : tenon::printable(report.table()));
  return report.correct() ? kRight : kWrong;
}

int tenon_bench(int argc, char** argv) {
  tenon::quiet_drivers();
  CLI::App app{"Measures Tenon beside the machine's limits and beside peers, in one run."};
  app.failure_message(tenon::cli::failure_text);
  bool json = false;
  std::string only;
  app.add_flag("--json", json, "Print JSON instead of a table");
  app.add_option("--only", only, "Run only rows whose name has a match of this regular expression");
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
    return first_result.empty() ? run(only, json) : tenon::bench::print_first_result(first_result);
  } catch (const std::regex_error& error) {
    tenon::complain(
        "tenon-bench",
        fmt::format("[--only] expected a regular expression, got \"{}\": {}", only, error.what()));
    return kUsage;
  } catch (const tenon::Error& error) {
    tenon::complain("tenon-bench", error.what());
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
