// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/loop.hpp"

#include <poll.h>

#include <algorithm>

#include "conformance/cases/abi/memory_cases.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/plan.hpp"
#include "conformance/cases/random.hpp"
#include "conformance/report/cause.hpp"
#include "conformance/report/verdict.hpp"
#include "core/plugin/library.hpp"
#include "core/support/error.hpp"
#include "core/support/printable.hpp"

namespace tenon::conformance::campaign {
namespace {

constexpr uint64_t kChunk = 4 * kBlock;
constexpr uint64_t kChunksAProcess = 64;  ///< on average
constexpr int kMostLost = 3;
constexpr size_t kMostNotes = 20;
constexpr double kSaveSeconds = 5;
constexpr uint64_t kCasesToEstimate = 400;  ///< beyond the checks, which say little of the rest
constexpr double kSecondsToEstimate = 3;
constexpr size_t kMostTold = 12;

using Clock = std::chrono::steady_clock;

/// Everything that the outcomes depend on, in the words of the command line.
std::vector<std::pair<std::string, std::string>> identity(const CampaignOptions& o,
                                                          const DeviceFacts& facts) {
  std::string lines;
  for (const report::ExpectationLine& line : o.expectations.lines())
    lines +=
        fmt::format("{}{}: {} {} {}", lines.empty() ? "" : ", ", line.line,
                    line.kind == report::ExpectationLine::Kind::kXfail ? "xfail" : "unsupported",
                    line.op, line.dtype);
  return {{"tool", file_identity(o.worker.program)},
          {"backend", o.worker.target.backend},
          {"target", o.worker.target.name},
          {"plugin", facts.plugin},
          {"plugin file", file_identity(facts.plugin)},
          {"seed", std::to_string(o.seed)},
          {"layers", o.selection.layers_text()},
          {"only", o.selection.only_text()},
          {"first case", std::to_string(o.begin)},
          {"end of cases", o.end == kEndless ? "none" : std::to_string(o.end)},
          {"run timeout", fmt::format("{}", o.worker.run_seconds)},
          {"compile timeout", fmt::format("{}", o.worker.compile_seconds)},
          {"memory limit", std::to_string(o.worker.memory_mib)},
          {"expectations", lines}};
}

}  // namespace

Loop::Loop(CampaignOptions& options)
    : options_(options),
      signal_(options.stoppable),
      progress_(options.progress),
      next_(options.begin) {
  report_.seed = options.seed;
  report_.jobs = options.jobs;
  report_.backend = options.worker.target.backend;
  if (options.end != kEndless || options.count) report_.planned = options.cases();
}

bool Loop::lost() const { return lost_ >= kMostLost; }

void Loop::start() {
  for (int i = 0; i < options_.jobs; ++i) {
    worker::WorkerOptions worker = options_.worker;
    worker.probe = options_.probe;
    if (options_.folder) {
      worker.journal = (*options_.folder / fmt::format("journal-{}.txt", i)).string();
      worker.log = (*options_.folder / fmt::format("worker-{}.log", i)).string();
      if (!options_.resume)
        for (const std::string& file : {worker.journal, worker.log})
          for (const char* suffix : {"", ".old"}) std::filesystem::remove(file + suffix);
    }
    clients_.push_back(std::make_unique<worker::WorkerClient>(std::move(worker)));
    facts_ = clients_.back()->start();
  }
  if (facts_.memory_only) leave_out_compute();
  report_.device = fmt::format("{} ({})", facts_.id, facts_.name);
  report_.declaration = facts_.declaration;
  report_.plugin = facts_.plugin;
  report_.properties = facts_.properties;
  recheck_ = std::make_unique<Recheck>(options_.worker, options_.seed, options_.recheck_one_in,
                                       facts_.deterministic);
  identity_ = identity(options_, facts_);
}

void Loop::leave_out_compute() {
  constexpr std::string_view kRemaining[] = {"sequences", "checks"};
  TN_REQUIRE(options_.selection.keep(kRemaining),
             "[layers] expected sequences or checks, since {} computes nothing", facts_.id);
  if (report_.planned) {
    report_.planned = 0;
    for (uint64_t i = options_.begin; i < options_.end; ++i)
      report_.planned += options_.selection.wants(plan_case(options_.seed, i));
  }
  if (options_.selection.is_named()) return;
  todo_.push_back({kMemoryBase, kMemoryBase + abi::memory_check_names().size()});
  if (report_.planned) report_.planned += abi::memory_check_names().size();
}

void Loop::resume() {
  const std::filesystem::path file = *options_.folder / "state.json";
  Checkpoint before = read_checkpoint(file, identity_);
  TN_REQUIRE(options_.begin <= before.next && before.next <= options_.end,
             "{}: [resume] next: expected a case in [{}, {}], got {}", file.string(),
             options_.begin, options_.end, before.next);
  const uint64_t memory_end = kMemoryBase + abi::memory_check_names().size();
  for (const worker::Range& range : before.todo)
    TN_REQUIRE((options_.begin <= range.begin && range.end <= before.next) ||
                   (kMemoryBase <= range.begin && range.end <= memory_end),
               "{}: [resume] todo: expected cases in [{}, {}), got [{}, {})", file.string(),
               options_.begin, before.next, range.begin, range.end);
  next_ = before.next;
  todo_.assign(before.todo.begin(), before.todo.end());
  book_.restore(before.failures, std::move(before.dropped));
  recheck_->restore(std::move(before.rechecks));
  options_.expectations.restore(std::move(before.seen));
  before.report.jobs = report_.jobs;
  report_ = std::move(before.report);
  report_.stopped.clear();
  seconds_before_ = report_.seconds;
}

void Loop::run() {
  start();
  if (options_.resume) resume();
  begin_ = Clock::now();
  save(true);
  options_.announces = options_.announces && !facts_.memory_only;
  if (options_.announces) announce();
  for (bool busy = true; busy;) {
    report_.stopped = why_no_more();
    const bool more = report_.stopped.empty();
    if (!more) call_back();
    busy = share_out(more);
    if (!stopped() && !lost() && !hopeless_) {
      recheck_->poll(!busy);
      busy = busy || recheck_->busy();
    }
    if (busy) wait();
    gather();
    if (options_.announces && !is_estimated_) estimate();
    if (progress_.due()) show_progress();
    if (busy) save(false);
  }
  progress_.clear();
  if (todo_.empty() && next_ >= options_.end) report_.stopped.clear();
  report_.seconds = elapsed();
  save(true);
  if (book_.seen() > 0 && options_.most_shrunk > 0 && !stopped())
    progress_.say(fmt::format("{} failures, of which some are now confirmed and shrunk",
                              report::grouped(book_.seen())));
  clients_.clear();
}

double Loop::elapsed() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string Loop::why_no_more() const {
  if (stopped()) return fmt::format("stopped by {}", signal_.name());
  if (lost()) return fmt::format("the device was lost {} times", lost_);
  if (hopeless_)
    return "the device is in doubt: three starts or known answers in a row have failed";
  if (options_.stop_after > 0 && book_.seen() >= static_cast<size_t>(options_.stop_after))
    return fmt::format("{} failures", book_.seen());
  const double reserved = book_.seen() > 0 ? options_.shrink_all_seconds.value_or(0) : 0;
  if (options_.seconds && elapsed() >= *options_.seconds - reserved)
    return fmt::format("the time of {} is up", duration_text(*options_.seconds));
  return {};
}

worker::Range Loop::next_range() {
  if (!todo_.empty()) {
    const worker::Range range = todo_.front();
    todo_.pop_front();
    return range;
  }
  const auto wanted = [&](uint64_t index) {
    return options_.selection.is_all() || options_.selection.wants(plan_case(options_.seed, index));
  };
  while (next_ < options_.end && !wanted(next_)) ++next_;
  worker::Range range{next_, next_};
  while (range.end < std::min(next_ + kChunk, options_.end) && wanted(range.end)) ++range.end;
  next_ = std::max(range.end, next_);
  return range;
}

/// False when nothing is left to do.
bool Loop::share_out(bool more) {
  bool busy = false;
  for (auto& client : clients_) {
    if (client->idle() && more)
      if (const worker::Range range = next_range(); !range.empty()) give(*client, range);
    busy = busy || !client->idle();
  }
  return busy;
}

void Loop::give(worker::WorkerClient& client, const worker::Range& range) {
  // Processes of different ages see different histories, and a small leak stays small.
  const bool old = mix(options_.seed, range.begin / kChunk) % kChunksAProcess == 0;
  const uint64_t limit = options_.worker.memory_mib;
  if (old || (limit > 0 && client.memory_mib() > limit / 2)) client.renew();
  client.give_range(options_.seed, range.begin, range.end);
}

/// Workers end after the case that they are at.
void Loop::call_back() {
  for (auto& client : clients_)
    if (!client->idle())
      if (const worker::Range rest = client->finish_soon(); !rest.empty()) todo_.push_back(rest);
}

void Loop::wait() {
  std::vector<pollfd> fds;
  double seconds = 0.05;  // the size of the workers is looked at so often
  const auto add = [&](int fd, double left) {
    if (fd >= 0) fds.push_back({fd, POLLIN, 0});
    seconds = std::min(seconds, left);
  };
  for (auto& client : clients_)
    if (!client->idle()) add(client->fd(), client->seconds_left());
  add(recheck_->fd(), recheck_->seconds_left());
  ::poll(fds.data(), fds.size(), static_cast<int>(std::max(seconds, 0.0) * 1000) + 1);
}

void Loop::gather() {
  for (auto& client : clients_) {
    for (Finished& finished : client->poll(0)) take(std::move(finished));
    for (const std::string& text : client->take_doubts()) doubt(text);
    if (!client->hopeless()) continue;
    hopeless_ = true;
    if (const worker::Range rest = client->finish_soon(); !rest.empty()) todo_.push_back(rest);
  }
  for (Finished& failure : recheck_->take_failures()) take_again(std::move(failure));
}

void Loop::take(Finished finished) {
  lost_ += finished.outcome.status == Status::kDeviceLost;
  options_.expectations.apply(finished);
  recheck_->offer(finished);
  report_.add(finished);
  report_.digest += mix(finished.index, finished.outcome.digest);
  if (!is_listed(finished.outcome.status)) return;
  if (is_failure(finished.outcome.status) && report_.first_failure_seconds < 0)
    report_.first_failure_seconds = elapsed();
  tell(finished);
  book_.add(std::move(finished));
}

/// It was counted as PASS.
void Loop::take_again(Finished failure) {
  const auto move_one = [](report::Counts& counts) {
    --counts[static_cast<size_t>(Status::kPass)], ++counts[static_cast<size_t>(Status::kFail)];
  };
  move_one(report_.counts);
  move_one(report_.cells[{failure.cell.op, failure.cell.dtype}].counts);
  if (report_.first_failure_seconds < 0) report_.first_failure_seconds = elapsed();
  book_.add(std::move(failure));
}

void Loop::doubt(const std::string& text) {
  if (report_.notes.size() < kMostNotes) report_.notes.push_back("device in doubt: " + text);
}

void Loop::save(bool always) {
  if (!options_.folder) return;
  const double age = std::chrono::duration<double>(Clock::now() - saved_).count();
  if (!always && age < kSaveSeconds) return;
  saved_ = Clock::now();
  report_.seconds = elapsed();
  Checkpoint state{identity_,
                   next_,
                   {todo_.begin(), todo_.end()},
                   book_.listed(),
                   book_.dropped(),
                   recheck_->pending(),
                   options_.expectations.seen(),
                   report_};
  for (const auto& client : clients_)
    if (!client->idle()) state.todo.push_back(client->left());
  write_checkpoint(state, *options_.folder / "state.json");
}

/// Until it ends by itself; of the whole run, if no time is set.
double Loop::seconds_left() const {
  const auto done = static_cast<double>(report_.cases());
  const double rate = done / std::max(elapsed(), 0.01);
  return std::max((static_cast<double>(options_.cases()) - done) / rate, 0.0);
}

void Loop::announce() {
  std::string line = fmt::format("{} cases, rules of the interface and known answers first",
                                 report::grouped(options_.cases()));
  if (options_.seconds) line += fmt::format("; it ends after {}", duration_text(*options_.seconds));
  progress_.say(line);
}

/// As soon as something can be said of it.
void Loop::estimate() {
  if (report_.cases() < kCasesToEstimate || elapsed() < kSecondsToEstimate) return;
  is_estimated_ = true;
  std::string line = fmt::format("{} cases, about {}", report::grouped(options_.cases()),
                                 duration_text(elapsed() + seconds_left()));
  if (options_.seconds && elapsed() + seconds_left() > *options_.seconds)
    line += fmt::format("; it ends after {}", duration_text(*options_.seconds));
  progress_.say(line);
}

/// As it comes, once for each cause: it is confirmed and shrunk when all cases have run.
void Loop::tell(const Finished& failure) {
  const Outcome& outcome = failure.outcome;
  if (told_.size() >= kMostTold || !told_.insert(report::cause_of(failure)).second) return;
  progress_.say(fmt::format("{} {} {} {} {}: {}", status_name(outcome.status),
                            case_name(options_.seed, failure.index), failure.cell.op,
                            failure.cell.dtype, failure.cell.layout,
                            printable(outcome.text.substr(0, outcome.text.find('\n')))));
}

void Loop::show_progress() {
  const double seconds = std::max(elapsed(), 0.01);
  const double done = static_cast<double>(report_.cases()), rate = done / seconds;
  double left = options_.seconds ? *options_.seconds - seconds : 1e18;
  if (options_.end != kEndless) left = std::min(left, seconds_left());
  progress_.show(
      fmt::format("{} cases, {:.0f} a second, {} failed, {} vacuous, {} coverage cells, {} left",
                  report_.cases(), rate, report::failing(report_.counts),
                  report::of(report_.counts, Status::kVacuous), report_.coverage(),
                  duration_text(std::max(left, 0.0))));
}

}  // namespace tenon::conformance::campaign
