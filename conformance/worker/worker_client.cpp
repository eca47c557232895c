// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Journal, watchdog and respawn.
#include "conformance/worker/worker_client.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "conformance/cases/abi/rules.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::worker {
namespace {

constexpr double kSlice = 0.05;  ///< between looks at the size of a process

std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// The beginning of what a plugin wrote, fit for a report.
std::string excerpt(const std::string& line) {
  std::string out = line.substr(0, 60);
  std::ranges::replace_if(
      out, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return out;
}

}  // namespace

WorkerClient::WorkerClient(WorkerOptions options)
    : options_(std::move(options)), journal_(options_.journal), probes_(options_.probe) {}

void WorkerClient::spawn() {
  std::vector<std::string> arguments{"worker", "--backend", options_.target.backend};
  if (options_.target.plugin) {
    arguments.emplace_back("--plugin");
    arguments.push_back(options_.target.plugin->string());
  }
  if (!options_.target.name.empty()) {
    arguments.emplace_back("--target");
    arguments.push_back(options_.target.name);
    arguments.emplace_back("--keep");
    arguments.push_back(options_.target.keep);
  }
  bound_log(options_.log);
  // A device that was lost may need a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(400) * failed_starts_);
  process_ = std::make_unique<WorkerProcess>(options_.program, arguments, options_.log);
  token_ = new_token();
  process_->send(token_ + "\n");
  phase_ = Phase::kStarting;
  kill_ = Kill::kNone;
  reason_.clear();
  bye_ = cut_ = false;
  running_.reset();
  process_begin_ = next_;
  is_new_ = true;
  watchdog_.expect_within(options_.start_seconds);
}

const DeviceFacts& WorkerClient::start() {
  spawn();
  std::vector<Finished> none;
  while (phase_ != Phase::kServing && !hopeless()) {
    if (!process_) spawn();
    step(kSlice, none);
    if (!process_ && !was_ready_) fail(ErrorKind::kEnvironment, "{}", reason_);
  }
  return facts_;
}

void WorkerClient::stop() {
  process_.reset();
  next_ = end_ = 0;
  running_.reset();
}

void WorkerClient::give_range(uint64_t seed, uint64_t begin, uint64_t end) {
  settle();
  seed_ = seed;
  next_ = begin;
  end_ = end;
  if (is_new_) process_begin_ = begin;
  text_.clear();
  send_work();
}

/// What ended with nothing to do is not the fault of what comes next.
void WorkerClient::settle() {
  std::vector<Finished> none;
  while (process_ && (cut_ || process_->ended())) step(0, none);
}

Range WorkerClient::finish_soon() {
  const uint64_t stop = running_ ? running_->index + 1 : next_;
  const Range rest{std::min(stop, end_), end_};
  end_ = rest.begin;
  cut_ = true;
  if (idle()) process_.reset();
  return rest;
}

void WorkerClient::send_work() {
  if (!process_) return spawn();
  // Between cases the generator and the reference need their time too.
  watchdog_.expect_within(options_.compile_seconds);
  if (idle()) return;
  if (!text_.empty())
    process_->send(write_command(RunText{text_.size()}) + "\n" + text_);
  else
    process_->send(write_command(RunRange{seed_, next_, end_}) + "\n");
}

void WorkerClient::take(const std::string& line, std::vector<Finished>& out) {
  if (kill_ == Kill::kGarbage) return;
  std::optional<Message> message;
  if (line.starts_with(token_ + ' '))
    message = read_message(std::string_view(line).substr(token_.size() + 1));
  if (!message) {
    kill_ = Kill::kGarbage;
    reason_ = excerpt(line);
  } else if (phase_ == Phase::kServing) {
    take_case(*message, out);
  } else {
    take_start(*message);
  }
}

void WorkerClient::take_start(const Message& message) {
  if (const auto* refused = std::get_if<Refused>(&message)) {
    reason_ = refused->reason;
    return;
  }
  if (const auto* ready = std::get_if<Ready>(&message)) {
    facts_ = ready->facts;
    was_ready_ = true;
    if (probes_) {
      phase_ = Phase::kProbing;
      watchdog_.expect_within(options_.compile_seconds + options_.run_seconds);
      process_->send(write_command(RunProbe{}) + "\n");
      return;
    }
  } else if (const auto* probed = std::get_if<Probed>(&message)) {
    if (probed->wrong) {
      reason_ = "the known answer came out wrong: " + probed->text;
      // Wrong from the beginning: no sign of a lost device, and the cases will tell the rest.
      if (answered_) {
        process_->kill();
        return;
      }
      doubts_.push_back(std::exchange(reason_, {}));
      probes_ = false;
    }
    answered_ = true;
  } else {
    return;
  }
  failed_starts_ = 0;
  phase_ = Phase::kServing;
  send_work();
}

void WorkerClient::take_case(Message& message, std::vector<Finished>& out) {
  if (std::holds_alternative<Bye>(message)) {
    bye_ = true;
  } else if (idle()) {
    return;  // it was told to end, and has not heard
  } else if (auto* begun = std::get_if<Begun>(&message)) {
    running_ =
        Finished{begun->index, begun->attempt, std::move(begun->cell), {}, {}, process_begin_};
    is_new_ = false;
    journal_.line(fmt::format("begin {}:{}", seed_, running_->index));
    enter(judge::RunPhase::kCompile);
  } else if (const auto* entered = std::get_if<Entered>(&message); entered && running_) {
    enter(entered->phase);
  } else if (auto* ended = std::get_if<Ended>(&message); ended && running_) {
    running_->outcome = std::move(ended->outcome);
    running_->reached = std::move(ended->reached);
    finish(std::move(*running_), out);
  }
}

void WorkerClient::enter(judge::RunPhase phase) {
  run_phase_ = phase;
  watchdog_.expect_within(limit_of_phase());
}

double WorkerClient::limit_of_phase() const {
  return run_phase_ == judge::RunPhase::kLaunch ? options_.run_seconds : options_.compile_seconds;
}

void WorkerClient::finish(Finished finished, std::vector<Finished>& out) {
  journal_.line(fmt::format("end {}:{} {} {:016x}", seed_, finished.index,
                            status_name(finished.outcome.status), finished.outcome.digest));
  next_ = text_.empty() ? finished.index + 1 : end_;
  running_.reset();
  out.push_back(std::move(finished));
  watchdog_.expect_within(options_.compile_seconds);
}

bool WorkerClient::too_big() {
  const auto now = Clock::now();
  if (options_.memory_mib == 0 || now - memory_seen_ < std::chrono::milliseconds(50)) return false;
  memory_seen_ = now;
  return process_->memory_mib() > options_.memory_mib;
}

void WorkerClient::step(double seconds, std::vector<Finished>& out) {
  std::vector<std::string> lines;
  const bool open =
      process_->read(std::clamp(std::min(seconds, watchdog_.seconds_left()), 0.0, kSlice), lines);
  for (const std::string& line : lines) take(line, out);
  const bool busy = !idle() || phase_ != Phase::kServing;
  if (busy) watchdog_.look(process_->pid());
  if (kill_ == Kill::kGarbage)
    bite(Kill::kGarbage, out);
  else if (!open)
    died(out);
  else if (busy && watchdog_.is_late(process_->pid()))
    bite(Kill::kLate, out);
  else if (too_big() && busy)
    bite(Kill::kMemory, out);
  else if (cut_ && idle())
    process_.reset();
}

void WorkerClient::bite(Kill reason, std::vector<Finished>& out) {
  process_->kill();
  kill_ = reason;
  const size_t before = out.size();
  std::vector<std::string> lines;
  for (int i = 0; i < 5 && process_->read(1, lines); ++i) {
  }
  for (const std::string& line : lines) take(line, out);
  // One that ended just before the watchdog bit is no timeout.
  bye_ = bye_ || (!running_ && out.size() > before);
  died(out);
}

void WorkerClient::died(std::vector<Finished>& out) {
  WorkerProcess::End how = process_->wait();
  if (const std::string words = process_->last_words(); !words.empty())
    how.said = fmt::format("; the last that it wrote: \"{}\"", words);
  process_.reset();
  if (phase_ != Phase::kServing) {
    if (reason_.empty())
      reason_ = kill_ == Kill::kLate
                    ? fmt::format("[plugin] expected it to load within {} s, and it hung",
                                  options_.start_seconds)
                : kill_ == Kill::kMemory
                    ? fmt::format(
                          "[plugin] expected it to load within the {} MiB of "
                          "--memory-limit, and its process grew beyond",
                          options_.memory_mib)
                    : fmt::format("[plugin] expected it to load, and its process ended ({}{})",
                                  how.text, how.said);
    start_failed(reason_);
  } else if (!idle() && !bye_) {
    charge(how, out);
  } else if (!bye_) {
    doubts_.push_back(fmt::format("its process ended with nothing to do ({})", how.text));
  }
  if (!idle() && !hopeless()) spawn();
}

void WorkerClient::start_failed(const std::string& reason) {
  ++failed_starts_;
  doubts_.push_back(phase_ == Phase::kProbing && kill_ == Kill::kLate
                        ? "no end of the case with a known answer"
                        : reason);
}

/// The case in flight, or the next one if it died between two: it would never end otherwise.
void WorkerClient::charge(const WorkerProcess::End& how, std::vector<Finished>& out) {
  const bool is_earlier = !running_ && !text_.empty();
  if (!running_) running_ = Finished{next_, 0, {"?", "?", "?"}, {}, {}, process_begin_};
  const bool launched = run_phase_ != judge::RunPhase::kCompile;
  const char* phase = launched ? "running" : "compiling";
  Finished finished = std::move(*running_);
  const std::string& op = finished.cell.op;
  const int rule = op.starts_with("api.") ? abi::rule_of_check(op.substr(4)) : 0;
  switch (kill_) {
    case Kill::kNone:
      finished.outcome = {Status::kCrash, how.kind,
                          fmt::format("{} while {}{}", how.text, phase, how.said)};
      break;
    case Kill::kGarbage:
      finished.outcome = {
          Status::kCrash, "protocol",
          fmt::format("the plugin wrote to a file descriptor that is not its own: \"{}\"",
                      reason_)};
      break;
    case Kill::kLate:
      finished.outcome = {
          Status::kTimeout, launched ? "run" : "compile",
          fmt::format("no end of {} within {} s",
                      run_phase_ == judge::RunPhase::kFirstLaunch ? "the first launch" : phase,
                      limit_of_phase())};
      break;
    case Kill::kMemory:
      finished.outcome = failed("memory", fmt::format("the process grew over {} MiB while {}",
                                                      options_.memory_mib, phase));
      break;
  }
  finished.outcome.text = abi::with_rule(std::move(finished.outcome.text), rule);
  // A case of a reproducer's history did it, and the case itself was never begun.
  if (is_earlier)
    finished.outcome = {finished.outcome.status, "earlier",
                        finished.outcome.text + ", before the case began"};
  finish(std::move(finished), out);
}

std::vector<Finished> WorkerClient::poll(double seconds) {
  std::vector<Finished> out;
  const auto begin = Clock::now();
  const auto left = [&] {
    return seconds - std::chrono::duration<double>(Clock::now() - begin).count();
  };
  do {
    if (!process_) break;
    step(std::max(left(), 0.0), out);
  } while (out.empty() && !idle() && left() > 0);
  return out;
}

Outcome WorkerClient::run_text(const std::string& text) {
  settle();
  text_ = text;
  next_ = 0;
  end_ = 1;
  send_work();
  std::vector<Finished> done;
  while (done.empty() && !hopeless()) done = poll(1);
  if (!done.empty()) return done.front().outcome;
  failed_starts_ = 0;
  next_ = end_;
  return {Status::kCrash, "start", reason_};
}

}  // namespace tenon::conformance::worker
