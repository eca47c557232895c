// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From failures to entries of the report, with planted bugs: confirmed, shrunk, put into buckets,
// kept as regression files.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <set>

#include "conformance/campaign/buckets.hpp"
#include "conformance/campaign/reduce_failure.hpp"
#include "conformance/campaign/regressions.hpp"
#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/campaign_on.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::campaign;
using namespace tenon::conformance::report;

namespace {

namespace fs = std::filesystem;

/// A variant of the plugin that `selftest` uses.
CampaignOptions planted_cases(const std::string& bug, uint64_t begin, uint64_t cases) {
  CampaignOptions options = campaign_on("planted", begin, cases);
  options.worker.target = {"planted:0@bug=" + bug,
                           fs::path(TENON_BINARY_DIR) / "lib/tenon-selftest/libtenon_planted.so"};
  options.seed = 3;
  options.stop_after = 1;
  options.recheck_one_in = 0;
  options.shrink_seconds = 60;
  return options;
}

/// Past the sweep of checks: cells and graphs at random.
constexpr uint64_t kRandom = 400 * kBlock;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("tenon_regressions_{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const Failure& first(const Campaign& campaign) {
  REQUIRE_FALSE(campaign.report.failures.empty());
  return campaign.report.failures.front();
}

}  // namespace

TEST_CASE("wrong values are one small case in little time") {
  for (const char* bug : {"sin_no_reduction", "max_identity_0", "negative_stride"}) {
    CampaignOptions options = planted_cases(bug, kRandom, 60000);
    // Calls, which may be first, have no values.
    options.selection = selection_of({"cells", "graphs"});
    const Campaign campaign = run_campaign(options);
    const Failure& failure = first(campaign);
    INFO(bug << "\n" << failure.text << "\n" << failure.reproducer);
    CHECK(failure.status == Status::kFail);
    CHECK(failure.nodes <= 3);
    CHECK(failure.elements <= 16);
    CHECK(failure.shrink_seconds < 10);
    CHECK_FALSE(failure.diff.empty());
  }
}

TEST_CASE("what fails only after other cases is found together with them") {
  // Sequences show the bug alone; a cell does after one of another dtype.
  CampaignOptions options = planted_cases("key_ignores_dtype", kRandom, 60000);
  options.selection = selection_of({"cells"});
  options.stop_after = 30;
  options.most_shrunk = 0;
  const Campaign campaign = run_campaign(options);
  FailureReducer reducer(options);
  std::optional<Reduced> reduced;
  for (const Failure& failure : campaign.report.failures) {
    if (failure.op.starts_with("api.")) continue;
    Finished finished;
    finished.index = parse_case_name(failure.name).second;
    finished.process_begin = finished.index - std::min<uint64_t>(finished.index, 600);
    finished.outcome = failed(failure.kind, failure.text);
    reduced = reducer.reduce(finished);
    if (!reduced->reproducer.after.empty()) break;
  }
  REQUIRE(reduced);
  INFO(reduced->failure.name << " " << reduced->failure.text << "\n"
                             << reduced->failure.reproducer);
  REQUIRE(reduced->failure.status != Status::kFlaky);
  REQUIRE(reduced->reproducer.after.size() == 1);
  // Alone it passes, after the other it fails as it did.
  Rerun rerun(options.worker, reduced->reproducer.outcome);
  Builder builder;
  Reproducer shrunk = parse_reproducer(reduced->failure.reproducer, builder, "shrunk");
  CHECK(rerun.fails_as_wanted(rerun.fresh(shrunk)));
  shrunk.after.clear();
  CHECK_FALSE(rerun.fails_as_wanted(rerun.fresh(shrunk)));
}

TEST_CASE("the transform that breaks the result is named") {
  // Rules choose the workgroup's reduction for large sizes; a random list does for small ones too.
  Failure named;
  for (uint64_t begin = kRandom / 2; begin < 40000 && named.transform.empty(); begin += 1000) {
    CampaignOptions options = planted_cases("lost_partial", begin, 1000);
    options.stop_after = 0;
    for (const Failure& failure : run_campaign(options).report.failures)
      if (!failure.transform.empty() && (named.nodes == 0 || failure.nodes < named.nodes))
        named = failure;
  }
  INFO(named.transform << "\n" << named.reproducer);
  CHECK(named.transform.starts_with("group"));
  CHECK(named.reproducer.find("# transforms ") != std::string::npos);
  CHECK(named.nodes <= 4);
}

TEST_CASE("only what never comes again is flaky") {
  CampaignOptions options = planted_cases("none", 0, 0);
  options.worker.target = {"planted_none", fs::path(TENON_BINARY_DIR) /
                                               "test-plugins/conformance/libtenon_planted_none.so"};
  FailureReducer reducer(options);
  Finished finished;
  finished.index = kRandom + 40;
  finished.process_begin = kRandom;
  finished.outcome = failed("mismatch", "once");
  const Reduced reduced = reducer.reduce(finished);
  CHECK(reduced.failure.status == Status::kFlaky);
  CHECK(reduced.failure.reproducer.empty());
  CHECK(reduced.failure.text.starts_with("once; and in a fresh process: "));
  // The device is synchronous, or has timelines: another rule is broken then.
  CHECK(reduced.failure.text.find("perhaps it was read too early; rule 20 of docs/abi.md: ") !=
        std::string::npos);
  options.async = true;
  CHECK(FailureReducer(options).reduce(finished).failure.text.find("; rule 32 of docs/abi.md: ") !=
        std::string::npos);
}

TEST_CASE("what fails in another way each time it is alone is no flake") {
  CampaignOptions options = planted_cases("none", 0, 0);
  const fs::path plugins = fs::path(TENON_BINARY_DIR) / "test-plugins/conformance";
  options.worker.target = {"planted_overrun", plugins / "libtenon_planted_overrun.so"};
  FailureReducer reducer(options);
  Finished finished;
  finished.index = kRandom + 40;
  finished.process_begin = kRandom + 40;
  finished.outcome = failed("mismatch", "once");
  const Reduced reduced = reducer.reduce(finished);
  CHECK(reduced.failure.status == Status::kFail);
  CHECK(reduced.failure.kind == "guard");
  CHECK(!reduced.failure.reproducer.empty());
}

TEST_CASE("a graph that is shrunk to few ops names them") {
  CampaignOptions options = planted_cases("tail_skipped", kRandom, 60000);
  options.selection = selection_of({"graphs"});
  options.stop_after = 2;
  const Campaign campaign = run_campaign(options);
  REQUIRE(!campaign.report.failures.empty());
  for (const Failure& failure : campaign.report.failures) {
    INFO(failure.text << "\n" << failure.reproducer);
    CHECK((failure.reproducer.empty() || failure.nodes > 4 ||
           failure.text.find("; shrunk to ") != std::string::npos));
  }
}

TEST_CASE("failures of one bucket are one entry and one regression file") {
  const Folder folder;
  CampaignOptions options = planted_cases("idiv_floors", kRandom, 60000);
  options.stop_after = 12;
  options.regressions = folder.path();
  const Campaign campaign = run_campaign(options);
  Builder builder;
  std::set<std::string> buckets;
  uint64_t listed = 0;
  for (const Failure& failure : campaign.report.failures) {
    INFO(failure.name << " " << failure.text << "\n" << failure.reproducer);
    listed += 1 + failure.same;
    REQUIRE_FALSE(failure.reproducer.empty());
    CHECK(failure.status == Status::kFail);
    const Reproducer shrunk = parse_reproducer(failure.reproducer, builder, "shrunk");
    CHECK(buckets.insert(bucket_of(shrunk, failure.transform)).second);
  }
  CHECK(listed > buckets.size());
  const std::vector<Regression> files = load_regressions({folder.path()}, builder);
  CHECK(files.size() == buckets.size());
  for (const Regression& file : files) CHECK(file.path.filename().string().starts_with("planted-"));

  // They are replayed, as cases of their own layout.
  options.replayed = {folder.path()};
  options.end = options.begin;
  const Campaign again = run_campaign(options);
  CHECK(again.report.cases() == files.size());
  REQUIRE(again.report.failures.size() == files.size());
  for (const Failure& failure : again.report.failures) {
    CHECK(failure.layout == "regression");
    CHECK(failure.name.ends_with(".tn"));
  }

  // The bug is gone: so are the failures.
  options.worker.target = {"planted_none", fs::path(TENON_BINARY_DIR) /
                                               "test-plugins/conformance/libtenon_planted_none.so"};
  const Campaign good = run_campaign(options);
  for (const Failure& failure : good.report.failures)
    UNSCOPED_INFO(failure.name << " " << failure.text << "\n" << failure.reproducer);
  CHECK(good.report.failures.empty());
  CHECK(good.report.cases() == files.size());
}

TEST_CASE("a malformed regression is an error that names its line, before anything runs") {
  const Folder folder;
  write_file(folder.path() / "bad.tn",
             "# tenon-conformance 1\n# mode special\n# input x f32 [2] = 1\n");
  CampaignOptions options = planted_cases("none", kRandom, 100);
  options.replayed = {folder.path()};
  try {
    run_campaign(options);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kInvalid);
    CHECK(std::string(error.what()).find("bad.tn:3: ") != std::string::npos);
  }
}
