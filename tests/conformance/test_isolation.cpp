// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plugins that treat their process badly: a run goes on to its end, charges the case in flight, and
// loses nothing.
#include <catch2/catch_test_macros.hpp>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "conformance/campaign/failure_book.hpp"
#include "conformance/cases/abi/memory_cases.hpp"
#include "conformance/cases/generator.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/campaign_on.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;
using namespace tenon::conformance::campaign;
using namespace tenon::conformance::report;

namespace {

constexpr uint64_t kCases = 160;

CampaignOptions misbehaving(const std::string& way) {
  CampaignOptions options = campaign_on("misbehaves_" + way, 0, kCases);
  options.worker.run_seconds = 1;
  options.most_shrunk = 0;
  options.recheck_one_in = 0;
  return options;
}

/// The file by which a process tells the next one, removed before and after.
struct Marker {
  explicit Marker(const std::string& way)
      : path("/tmp/tenon-misbehaves-" + std::to_string(getpid()) + "-misbehaves_" + way) {
    std::filesystem::remove(path);
  }
  ~Marker() { std::filesystem::remove(path); }
  std::string path;
};

int processes_with(const std::string& word) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    const std::string line{std::istreambuf_iterator<char>(in), {}};
    found += line.find(word) != line.npos && entry.path().filename() != std::to_string(getpid());
  }
  return found;
}

}  // namespace

TEST_CASE("a crash has the last words of its process") {
  for (const bool has_log : {false, true}) {
    CampaignOptions options = misbehaving("heap");
    options.stop_after = 1;
    if (has_log) options.folder = std::filesystem::temp_directory_path() / "tenon-last-words";
    const Campaign campaign = run_campaign(options);
    REQUIRE(!campaign.report.failures.empty());
    const std::string& text = campaign.report.failures.front().text;
    INFO(text);
    CHECK(text.starts_with("SIGABRT while "));
    CHECK(text.find("; the last that it wrote: \"free(): invalid") != std::string::npos);
    if (has_log) std::filesystem::remove_all(*options.folder);
  }
}

#if defined(__x86_64__)
TEST_CASE("a plugin that leaves denormals off is told so, and does not spoil what judges it") {
  Campaign campaign = run_campaign(misbehaving("flushes"));
  bool told = false;
  for (const Failure& failure : campaign.report.failures) {
    INFO(failure.name << " " << failure.text);
    if (!failure.op.starts_with("api.")) continue;
    CHECK(failure.text.find(
              "floating point control (traps, subnormals, precision) of the calling thread: "
              "expected 0x37f00001f80, got 0x37f00009fc0") != std::string::npos);
    told = true;
  }
  CHECK(told);
  CHECK(campaign.report.notes.empty());
}
#endif

TEST_CASE("a plugin that ends its process costs a case each time") {
  struct Row {
    const char* way;
    Status status;
    const char* kind;
  };
  for (const Row& row :
       {Row{"every_100th", Status::kCrash, "SIGSEGV"}, Row{"heap", Status::kCrash, "SIGABRT"},
        Row{"exits", Status::kCrash, "exit"}, Row{"aborts_later", Status::kCrash, "SIGABRT"},
        Row{"kills", Status::kCrash, "SIGKILL"}, Row{"closes", Status::kCrash, "protocol"},
        Row{"closes_all", Status::kCrash, "protocol"}, Row{"garbage", Status::kCrash, "protocol"},
        Row{"eats", Status::kFail, "memory"}}) {
    INFO(row.way);
    CampaignOptions options = misbehaving(row.way);
    if (row.status == Status::kFail) options.end = 80;  // each takes a moment to grow
    options.worker.memory_mib = 200;
    options.worker.run_seconds = 5;
    const Campaign result = run_campaign(options);
    CHECK(result.report.cases() == options.end);
    CHECK(of(result.report.counts, row.status) > 0);
    CHECK(of(result.report.counts, Status::kPass) > options.end / 3);
    CHECK(failing(result.report.counts) == of(result.report.counts, row.status));
    REQUIRE(!result.report.failures.empty());
    for (const Failure& failure : result.report.failures) {
      INFO(failure.text);
      CHECK(failure.kind == row.kind);
      CHECK(failure.op != "?");
    }
    for (const std::string& note : result.report.notes) UNSCOPED_INFO(note);
    CHECK(result.report.notes.empty());
  }
}

TEST_CASE("what hangs is killed with all that it started") {
  CampaignOptions options = misbehaving("stubborn");
  options.worker.compile_seconds = 0.5;
  options.stop_after = 3;
  const std::string plugin = options.worker.target.plugin->string();  // of this build alone
  const int before = processes_with(plugin);
  const Campaign result = run_campaign(options);
  CHECK(of(result.report.counts, Status::kTimeout) == 3);
  CHECK(result.report.stopped == "3 failures");
  CHECK(of(result.report.counts, Status::kTimeout) == failing(result.report.counts));
  CHECK(processes_with(plugin) == before);
}

TEST_CASE("a driver may compile at the first launch") {
  CampaignOptions options = misbehaving("compiles_late");
  options.end = 12;
  options.worker.run_seconds = 0.3;
  const Campaign result = run_campaign(options);
  CHECK(result.report.cases() == options.end);
  CHECK(failing(result.report.counts) == 0);
}

TEST_CASE("what a plugin prints on standard output is a fault, and forges nothing") {
  const Campaign result = run_campaign(misbehaving("prints"));
  CHECK(result.report.cases() == kCases);
  REQUIRE(failing(result.report.counts) > 0);
  for (const Failure& failure : result.report.failures) {
    CHECK(failure.kind == "error");
    CHECK(failure.text.find("standard output: expected nothing on it") != std::string::npos);
  }
}

TEST_CASE("exit handlers are never waited for") {
  const auto begin = std::chrono::steady_clock::now();
  const Campaign result = run_campaign(misbehaving("hangs_at_exit"));
  CHECK(failing(result.report.counts) == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("a device that hangs while it opens is an error of the environment") {
  CampaignOptions options = misbehaving("opens_never");
  options.worker.start_seconds = 0.5;
  try {
    run_campaign(options);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kEnvironment);
    CHECK(std::string(error.what()).find("it hung") != std::string::npos);
  }
}

TEST_CASE("a device that does not come back ends the run, and says so") {
  for (const char* way : {"reopens_never", "wrong_after"}) {
    INFO(way);
    const Marker marker(way);
    const Campaign result = run_campaign(misbehaving(way));
    CHECK(result.in_doubt);
    CHECK_FALSE(result.lost);
    CHECK(of(result.report.counts, Status::kCrash) == 1);
    CHECK(result.report.cases() < kCases);
    CHECK(result.report.notes.size() == 3);
    CHECK(result.report.stopped.find("in doubt") != std::string::npos);
  }
}

TEST_CASE("results that depend on what a process ran before are found") {
  CampaignOptions options = misbehaving("has_history");
  options.end = 1600;
  options.recheck_one_in = 2;
  const Campaign result = run_campaign(options);
  CHECK(result.report.cases() == options.end);
  bool found = false;
  for (const Failure& failure : result.report.failures) found = found || failure.kind == "history";
  CHECK(found);
}

TEST_CASE("passing cases pass again in fresh processes") {
  CampaignOptions options = misbehaving("hangs_at_exit");
  options.recheck_one_in = 2;
  const Campaign result = run_campaign(options);
  CHECK(failing(result.report.counts) == 0);
}

TEST_CASE("a device that computes nothing is tried in workers like any other") {
  CampaignOptions options = misbehaving("stores");
  options.end = 64 * kBlock;
  const Campaign result = run_campaign(options);
  CHECK(result.memory_only);
  CHECK(result.report.device.find("misbehaves_stores") != std::string::npos);
  CHECK(result.report.declaration == "memory only");
  const auto counts = [&](const std::string& op) {
    const auto at = result.report.cells.find({op, "-"});
    return at == result.report.cells.end() ? Counts{} : at->second.counts;
  };
  // One check takes its process with it; the others pass, and so do rules and sequences.
  for (const std::string& name : memory_check_names()) {
    INFO(name);
    const bool is_fatal = name == "commands";
    CHECK(of(counts("memory." + name), is_fatal ? Status::kCrash : Status::kPass) == 1);
  }
  CHECK(of(counts("api.sequence"), Status::kPass) > 10);
  CHECK(of(counts("api.map_ranges"), Status::kPass) > 0);
  for (const auto& [cell, row] : result.report.cells)
    CHECK((cell.first.starts_with("api.") || cell.first.starts_with("memory.")));
  CHECK(failing(result.report.counts) == 1);
}

TEST_CASE("a device that computes nothing has no cells to choose") {
  CampaignOptions options = misbehaving("stores");
  options.selection = selection_of({"cells"});
  try {
    run_campaign(options);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kInvalid);
  }
}

TEST_CASE("the book of failures stays small, and counts what it leaves out") {
  FailureBook forward, backward;
  const auto failure = [](uint64_t index) {
    Finished finished{index, 0, {"add", "f32", "contiguous"}, failed("mismatch", "a sentence"),
                      {},    0};
    return finished;
  };
  for (uint64_t i = 0; i < 1000; ++i) {
    forward.add(failure(i));
    backward.add(failure(999 - i));
  }
  REQUIRE(forward.listed().size() == backward.listed().size());
  for (size_t i = 0; i < forward.listed().size(); ++i) {
    CHECK(forward.listed()[i].index == i);
    CHECK(backward.listed()[i].index == i);
  }
  CHECK(forward.seen() == 1000);
  CHECK(forward.dropped("add", "f32", "mismatch") + forward.listed().size() == 1000);
  FailureBook again;
  again.restore(forward.listed(), forward.dropped());
  CHECK(again.seen() == 1000);
  CHECK(again.dropped("add", "f32", "mismatch") == forward.dropped("add", "f32", "mismatch"));
}
