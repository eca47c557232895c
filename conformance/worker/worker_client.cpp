// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Journal, watchdog and respawn.
#include "conformance/worker/worker_client.hpp"

#include <algorithm>

#include "conformance/worker/wire.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {

WorkerClient::WorkerClient(WorkerOptions options) : options_(std::move(options)) {
  if (options_.journal.empty()) return;
  journal_ = fopen(options_.journal.c_str(), "w");
  if (!journal_)
    fail(ErrorKind::kEnvironment, "[journal] expected to write {}, got an error", options_.journal);
}

WorkerClient::~WorkerClient() {
  if (journal_) fclose(journal_);
}

void WorkerClient::journal(const std::string& line) {
  if (!journal_) return;
  fprintf(journal_, "%s\n", line.c_str());
  fflush(journal_);
}

const DeviceFacts& WorkerClient::start() {
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
  process_ = std::make_unique<WorkerProcess>(options_.program, arguments, options_.log);
  expect_within(options_.start_seconds);
  std::vector<std::string> lines;
  while (lines.empty()) {
    const bool open = process_->read(std::max(seconds_left(), 0.0), lines);
    if (!lines.empty()) break;
    if (seconds_left() <= 0) {
      process_.reset();
      fail(ErrorKind::kEnvironment, "[plugin] expected it to load within {} s, and it hung",
           options_.start_seconds);
    }
    if (!open) {
      const std::string how = process_->wait();
      process_.reset();
      fail(ErrorKind::kEnvironment, "[plugin] expected it to load, and its process ended ({})",
           how.empty() ? "silently" : how);
    }
  }
  const std::vector<std::string> fields = unpack(lines[0]);
  if (fields[0] != "ready" || fields.size() != 5) {
    process_.reset();
    fail(ErrorKind::kEnvironment, "{}", fields.size() > 1 ? fields[1] : lines[0]);
  }
  facts_ = {fields[1], fields[2], fields[3], fields[4]};
  running_.reset();
  expired_ = false;
  return facts_;
}

void WorkerClient::stop() {
  process_.reset();
  next_ = end_ = 0;
  running_.reset();
}

void WorkerClient::ensure_started() {
  if (!process_) start();
}

void WorkerClient::give_range(uint64_t seed, uint64_t begin, uint64_t end) {
  seed_ = seed;
  next_ = begin;
  end_ = end;
  text_.clear();
  ensure_started();
  resume();
}

void WorkerClient::resume() {
  // Between cases the generator and the reference need their time too.
  expect_within(options_.compile_seconds);
  if (idle()) return;
  if (!text_.empty())
    process_->send("text " + std::to_string(text_.size()) + "\n" + text_);
  else
    process_->send(fmt::format("range {} {} {}\n", seed_, next_, end_));
}

void WorkerClient::expect_within(double seconds) {
  deadline_ = Clock::now() +
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double WorkerClient::seconds_left() const {
  return std::chrono::duration<double>(deadline_ - Clock::now()).count();
}

void WorkerClient::take(const std::string& line, std::vector<Finished>& out) {
  const std::vector<std::string> fields = unpack(line);
  if (fields[0] == "begin" && fields.size() == 6) {
    running_ = Running{
        std::stoull(fields[1]), std::stoull(fields[2]), {fields[3], fields[4], fields[5]}, false};
    journal(fmt::format("begin {}:{}", seed_, running_->index));
    expect_within(options_.compile_seconds);
  } else if (fields[0] == "run" && running_) {
    running_->launched = true;
    expect_within(options_.run_seconds);
  } else if (fields[0] == "end" && running_) {
    finish(read_end(fields), out);
  } else if (fields[0] == "refused" && fields.size() == 2) {
    fail(ErrorKind::kInvalid, "{}", fields[1]);
  }
}

void WorkerClient::finish(Outcome outcome, std::vector<Finished>& out) {
  journal(fmt::format("end {}:{} {}", seed_, running_->index, status_name(outcome.status)));
  next_ = text_.empty() ? running_->index + 1 : end_;
  out.push_back(
      {running_->index, running_->attempt, std::move(running_->cell), std::move(outcome)});
  running_.reset();
  expect_within(options_.compile_seconds);
}

void WorkerClient::died(std::vector<Finished>& out) {
  const std::string how = process_->wait();
  process_.reset();
  // One that ended just before the watchdog bit is no timeout.
  const bool late = expired_ && !running_ && !out.empty();
  if (!late && (expired_ || !how.empty())) {
    // Without a case begun it died between two: the next one is to blame, or it would never end.
    if (!running_) running_ = Running{next_, 0, {"?", "?", "?"}, false};
    const char* phase = running_->launched ? "running" : "compiling";
    const double limit = running_->launched ? options_.run_seconds : options_.compile_seconds;
    if (expired_)
      finish({Status::kTimeout,
              running_->launched ? "run" : "compile",
              fmt::format("no end of {} within {} s", phase, limit),
              0,
              {}},
             out);
    else
      finish({Status::kCrash, how, fmt::format("{} while {}", how, phase), 0, {}}, out);
  }
  expired_ = false;
  if (idle()) return;
  start();
  resume();
}

std::vector<Finished> WorkerClient::poll(double seconds) {
  std::vector<Finished> out;
  if (!process_) return out;
  std::vector<std::string> lines;
  const bool open = process_->read(std::clamp(seconds_left(), 0.0, std::max(seconds, 0.0)), lines);
  for (const std::string& line : lines) take(line, out);
  if (!open) {
    died(out);
  } else if (!idle() && seconds_left() <= 0) {
    process_->kill();
    lines.clear();
    for (int i = 0; i < 5 && process_->read(1, lines); ++i) {
    }
    for (const std::string& line : lines) take(line, out);
    expired_ = true;
    died(out);
  }
  return out;
}

Outcome WorkerClient::run_text(const std::string& text) {
  text_ = text;
  next_ = 0;
  end_ = 1;
  ensure_started();
  resume();
  std::vector<Finished> done;
  while (done.empty()) {
    done = poll(1);
    if (!process_ && done.empty())
      fail(ErrorKind::kEnvironment, "[worker] expected an outcome, and its process ended");
  }
  return done.front().outcome;
}

}  // namespace tenon::conformance
