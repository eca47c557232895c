// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands in, cases run, lines out.
#include "conformance/worker/worker.hpp"

#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/judge/compile.hpp"
#include "conformance/worker/wire.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr uint64_t kAttempts = 5;
constexpr size_t kMostText = size_t{1} << 28;

void send(const std::vector<std::string>& fields) {
  const std::string line = pack(fields);
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(kResultFd, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0);  // the parent is gone
    sent += static_cast<size_t>(n);
  }
}

/// Buffered reads of the command pipe.
class Commands {
 public:
  bool line(std::string& out) {
    for (;;) {
      if (const size_t end = buffer_.find('\n'); end != buffer_.npos) {
        out = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return true;
      }
      if (!more()) return false;
    }
  }
  bool bytes(size_t count, std::string& out) {
    while (buffer_.size() < count)
      if (!more()) return false;
    out = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return true;
  }

 private:
  bool more() {
    char chunk[1 << 16];
    ssize_t n;
    do {
      n = read(kCommandFd, chunk, sizeof chunk);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    buffer_.append(chunk, static_cast<size_t>(n));
    return true;
  }
  std::string buffer_;
};

/// What a process does with its commands; false if it is of no more use afterwards.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual std::vector<std::string> ready() const = 0;
  virtual bool run_range(uint64_t seed, uint64_t begin, uint64_t end) = 0;
  virtual bool run_text(const std::string& text) = 0;

 protected:
  static void announce(const Case& test, uint64_t attempt) {
    send({"begin", std::to_string(test.index), std::to_string(attempt), test.cell.op,
          test.cell.dtype, test.cell.layout});
  }
};

class CompileWorker final : public Worker {
 public:
  explicit CompileWorker(const Target& target) : harness_(target) {}

  std::vector<std::string> ready() const override {
    return {"ready", harness_.compiler().who(), "compiled only", "none: nothing runs",
            harness_.compiler().plugin_path()};
  }

  bool run_range(uint64_t seed, uint64_t begin, uint64_t end) override {
    Generator generator(seed, harness_.builder());
    for (uint64_t index = begin; index < end; ++index) {
      const Case test = generator.make_plain(index);
      announce(test, 0);
      send(end_fields(index, harness_.run(test)));
    }
    return true;
  }

  bool run_text(const std::string&) override {
    announce(Case{}, 0);
    send(end_fields(0, failed("text", "a target only compiles")));
    return true;
  }

 private:
  CompileHarness harness_;
};

class RunWorker final : public Worker {
 public:
  explicit RunWorker(const Target& target) : harness_(target) {}

  std::vector<std::string> ready() const override {
    return {"ready", harness_.device_id(), harness_.device_name(), harness_.declaration(),
            harness_.plugin_path()};
  }

  bool run_range(uint64_t seed, uint64_t begin, uint64_t end) override {
    Generator generator(seed, builder_);
    for (uint64_t index = begin; index < end; ++index)
      if (!run(generator.make(index), &generator)) return false;
    return true;
  }

  bool run_text(const std::string& text) override {
    Case test;
    try {
      Reproducer reproducer = parse_reproducer(text, builder_, "case");
      for (const auto& [seed, index] : reproducer.after) {
        Generator generator(seed, builder_);
        Case before = generator.make(index);
        judge(before, &generator, true);
      }
      test = std::move(reproducer.test);
    } catch (const Error& error) {
      announce(Case{}, 0);
      send(end_fields(0, failed("text", error.what())));
      return true;
    }
    test.index = 0;
    return run(std::move(test), nullptr);
  }

 private:
  bool run(Case test, Generator* generator) {
    const uint64_t index = test.index;
    Outcome outcome;
    try {
      outcome = judge(test, generator);
    } catch (const std::exception& error) {
      // The reference failed, not the device: our own bug, which must not hide.
      announce(test, 0);
      outcome = failed("reference", error.what());
    }
    send(end_fields(index, outcome));
    // Damage to a guard zone stays; so a fresh process goes on.
    return outcome.status != Status::kDeviceLost && outcome.kind != "guard";
  }

  Outcome judge(Case& test, Generator* generator, bool silent = false) {
    const auto launched = [&] {
      if (!silent) send({"run", std::to_string(test.index)});
    };
    if (test.refusal) {
      if (!silent) announce(test, 0);
      return harness_.run(test, nullptr, launched);
    }
    Expectation expectation = expect(test, harness_.profile());
    std::string vacuous = vacuity(expectation);
    uint64_t attempt = 0;
    while (generator && !vacuous.empty() && attempt + 1 < kAttempts) {
      test = generator->make(test.index, ++attempt);
      expectation = expect(test, harness_.profile());
      vacuous = vacuity(expectation);
    }
    if (!silent) announce(test, attempt);
    Outcome outcome = harness_.run(test, &expectation, launched);
    if (outcome.status == Status::kPass && !vacuous.empty()) {
      outcome.status = Status::kVacuous;
      outcome.text = vacuous;
    }
    return outcome;
  }

  Builder builder_;
  Harness harness_;
};

int serve_commands(Worker& worker) {
  Commands commands;
  for (std::string line; commands.line(line);) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    bool goes_on = false;
    if (verb == "range") {
      uint64_t seed = 0, begin = 0, end = 0;
      in >> seed >> begin >> end;
      TN_REQUIRE(!in.fail(), "[worker] expected range SEED BEGIN END, got \"{}\"", line);
      goes_on = worker.run_range(seed, begin, end);
    } else if (verb == "text") {
      size_t size = 0;
      std::string text;
      in >> size;
      TN_REQUIRE(!in.fail() && size < kMostText, "[worker] expected text BYTES, got \"{}\"", line);
      if (!commands.bytes(size, text)) return 0;
      goes_on = worker.run_text(text);
    }
    if (!goes_on) return 0;
    send({"idle"});
  }
  return 0;
}

}  // namespace

int serve(const Target& target) {
  std::unique_ptr<Worker> worker;
  try {
    if (target.name.empty())
      worker = std::make_unique<RunWorker>(target);
    else
      worker = std::make_unique<CompileWorker>(target);
    send(worker->ready());
    serve_commands(*worker);
  } catch (const std::exception& error) {
    send({"refused", error.what()});
  }
  // Like a plugin, its threads are never taken down in order: a driver's exit handlers may hang.
  _exit(0);
}

}  // namespace tenon::conformance
