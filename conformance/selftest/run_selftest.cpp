// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shares the variants out over processes, and reads their reports.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "conformance/cases/files.hpp"
#include "conformance/report/report.hpp"
#include "conformance/selftest/plugin/variants.hpp"
#include "conformance/selftest/selftest.hpp"
#include "conformance/selftest/variant_process.hpp"
#include "core/plugin/install_paths.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::selftest {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kGrace = 180;  ///< seconds to confirm and shrink, before a process is ended

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// For logs where no report is wanted; gone at the end.
class Scratch {
 public:
  explicit Scratch(const std::string& wanted) : keeps_(!wanted.empty()) {
    if (keeps_) {
      path_ = fs::absolute(wanted);
      fs::create_directories(path_);
      return;
    }
    std::string name = (fs::temp_directory_path() / "tenon-selftest-XXXXXX").string();
    if (!mkdtemp(name.data()))
      fail(ErrorKind::kEnvironment, "[selftest] expected to make a folder {}", name);
    path_ = name;
  }
  ~Scratch() {
    std::error_code error;
    if (!keeps_) fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  bool keeps_;
  fs::path path_;
};

/// The failure to show: one that comes again rather than one that does not.
const report::Failure* first_failure(const report::Report& report) {
  const report::Failure* first = nullptr;
  for (const report::Failure& failure : report.failures) {
    if (!is_listed(failure.status)) continue;
    if (!first || (first->status == Status::kFlaky && failure.status != Status::kFlaky))
      first = &failure;
  }
  return first;
}

void read_report(const report::Report& report, SelftestRow& row) {
  row.cases = report.cases();
  row.seconds = report.seconds;
  row.tried = report::tried(report.counts) > 0;
  // A case that is not legal is an alarm, and finds no bug.
  row.found = report::failing(report.counts) > 0 ||
              (row.benign && report::of(report.counts, Status::kToolError) > 0);
  if (!row.found) return;
  if (report.first_failure_seconds >= 0) row.seconds = report.first_failure_seconds;
  const report::Failure* failure = first_failure(report);
  if (!failure) return;
  row.status = status_name(failure->status);
  row.failure = failure->kind;
  row.text = failure->text;
  row.nodes = failure->nodes;
  row.elements = failure->elements;
  row.shrink_seconds = failure->shrink_seconds;
  row.replay = failure->replay;
}

class Runs {
 public:
  Runs(const SelftestOptions& options, const fs::path& folder)
      : options_(options), folder_(folder), shows_(isatty(STDERR_FILENO)) {}

  void run(std::vector<SelftestRow>& rows, size_t jobs) {
    size_t next = 0;
    while (next < rows.size() || !running_.empty()) {
      while (running_.size() < jobs && next < rows.size()) start(rows[next++]);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::erase_if(running_, [&](Running& one) {
        const bool late = seconds_since(one.begin) > options_.seconds + kGrace;
        if (!one.process->ended() && !late) return false;
        finish(one, late);
        return true;
      });
      if (shows_) show(rows.size(), next);
    }
    if (shows_) fmt::print(stderr, "\r\033[K");
  }

 private:
  struct Running {
    SelftestRow* row;
    std::unique_ptr<VariantProcess> process;
    Clock::time_point begin;
  };

  fs::path file(const SelftestRow& row, const char* suffix) const {
    return folder_ / (row.name + suffix);
  }

  void start(SelftestRow& row) {
    std::vector<std::string> arguments{"selftest",
                                       "--one",
                                       row.name,
                                       "--time",
                                       fmt::format("{}", options_.seconds),
                                       "--seed",
                                       std::to_string(options_.seed)};
    // Files that are gone afterwards would be named in vain.
    if (!options_.report.empty()) {
      arguments.emplace_back("--report");
      arguments.push_back((folder_ / row.name).string());
    }
    running_.push_back(
        {&row, std::make_unique<VariantProcess>(arguments, file(row, ".json"), file(row, ".log")),
         Clock::now()});
  }

  void finish(Running& one, bool late) {
    one.process.reset();
    const std::string text = read_file(file(*one.row, ".json").string());
    if (late || text.empty())
      fail(ErrorKind::kEnvironment, "[selftest] {}: expected a report, got {}", one.row->name,
           late ? "none in time" : read_file(file(*one.row, ".log").string()));
    read_report(report::parse_report(text), *one.row);
    ++done_;
  }

  void show(size_t all, size_t started) const {
    fmt::print(stderr, "\r\033[K{} of {} variants done, {} started", done_, all, started);
    std::fflush(stderr);
  }

  const SelftestOptions& options_;
  const fs::path& folder_;
  const bool shows_;
  std::vector<Running> running_;
  size_t done_ = 0;
};

}  // namespace

fs::path planted_plugin() {
  const fs::path file = fs::path("tenon-selftest") / "libtenon_planted.so";
  std::string tried;
  std::error_code error;
  for (const fs::path& plugins : plugin_folders()) {
    fs::path path = (plugins.parent_path() / file).lexically_normal();
    if (fs::is_regular_file(path, error)) return path;
    tried += "\n  " + path.string();
  }
  fail(ErrorKind::kEnvironment, "[selftest] expected the plugin with planted bugs, got none of{}",
       tried);
}

SelftestScore run_selftest(const SelftestOptions& options) {
  SelftestScore score;
  score.seconds = options.seconds;
  for (const std::string& name : options.only)
    TN_REQUIRE(planted::find_variant(name), "[selftest] expected a name of the table, got \"{}\"",
               name);
  for (const planted::VariantRow& variant : planted::kVariants) {
    const std::string name(variant.name);
    if (!options.only.empty() && !std::ranges::count(options.only, name)) continue;
    score.rows.push_back(
        {.name = name, .kind = std::string(variant.kind), .benign = variant.benign});
  }
  planted_plugin();
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const Scratch scratch(options.report);
  Runs(options, scratch.path())
      .run(score.rows, options.jobs > 0 ? static_cast<size_t>(options.jobs) : cores);
  return score;
}

}  // namespace tenon::conformance::selftest
