// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/regressions.hpp"

#include <algorithm>

#include "conformance/campaign/buckets.hpp"
#include "conformance/campaign/reduce_failure.hpp"
#include "conformance/cases/files.hpp"
#include "conformance/worker/run_reproducer.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"
#include "core/support/shell.hpp"

namespace tenon::conformance::campaign {
namespace {

/// The same in every build, so that a bucket keeps its file name.
uint32_t short_hash(std::string_view text) { return static_cast<uint32_t>(hash_bytes(0, text)); }

std::string file_name(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_'; }, '_');
  return out;
}

report::Failure describe(const Regression& regression, const Finished& finished,
                         const Target& target) {
  return {.name = regression.path.filename().string(),
          .status = finished.outcome.status,
          .kind = finished.outcome.kind,
          .op = finished.cell.op,
          .dtype = finished.cell.dtype,
          .layout = finished.cell.layout,
          .text = finished.outcome.text,
          .replay = fmt::format("tenon-conformance replay {} {}",
                                shell_word(regression.path.string()), target_arguments(target)),
          .reproducer = regression.text,
          .diff = finished.outcome.diff};
}

}  // namespace

std::vector<Regression> load_regressions(const std::vector<std::filesystem::path>& folders,
                                         Builder& builder) {
  std::vector<Regression> out;
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder))
      fail(ErrorKind::kInvalid, "[regressions] expected a folder, got {}", folder.string());
    const size_t first = out.size();
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".tn") continue;
      std::string text = read_file(entry.path());
      Reproducer reproducer = parse_reproducer(text, builder, entry.path().string());
      out.push_back({entry.path(), std::move(text), std::move(reproducer)});
    }
    std::ranges::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), {},
                      &Regression::path);
  }
  return out;
}

std::vector<report::Failure> replay_regressions(const std::vector<Regression>& regressions,
                                                CampaignOptions& options, report::Report& report) {
  std::vector<report::Failure> failures;
  worker::WorkerOptions worker = options.worker;
  worker.journal.clear();
  worker::WorkerClient client(worker);
  for (const Regression& regression : regressions) {
    const Case& test = regression.reproducer.test;
    Finished finished;
    finished.index = test.index;
    finished.cell = test.cell;
    finished.cell.layout = "regression";
    finished.outcome = worker::run_reproducer(client, regression.reproducer);
    options.expectations.apply(finished);
    report.add(finished);
    if (is_listed(finished.outcome.status))
      failures.push_back(describe(regression, finished, worker.target));
  }
  return failures;
}

void write_regression(const std::filesystem::path& folder, const Target& target,
                      const Reproducer& shrunk, const std::string& transform) {
  std::filesystem::create_directories(folder);
  const auto path = folder / fmt::format("{}-{}-{:08x}.tn", file_name(target.backend_name()),
                                         file_name(main_op(shrunk.test)),
                                         short_hash(bucket_of(shrunk, transform)));
  if (!std::filesystem::exists(path)) write_file(path, write_reproducer(shrunk));
}

}  // namespace tenon::conformance::campaign
