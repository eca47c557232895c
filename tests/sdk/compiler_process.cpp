// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/backend/compiler_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "sdk/support/failure.hpp"

using namespace tenon::sdk;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string run_shell(const CompilerProcess& process, const std::string& script,
                      std::chrono::milliseconds limit = 60s) {
  const std::string command[] = {"sh", "-c", script};
  return process.run(command, limit);
}

/// Whether it holds within 10 s.
bool becomes_true(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000 && !holds(); ++i) std::this_thread::sleep_for(10ms);
  return holds();
}

/// Not one that waits to be reaped.
bool is_running(const std::string& process) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(std::stoi(process)) + "/stat"), stat);
  return !stat.empty() && stat[stat.rfind(')') + 2] != 'Z';
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

tn_status status_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure.code();
  }
  return TN_OK;
}

}  // namespace

TEST_CASE("a compiler reads and writes files of its folder, which goes with it") {
  std::string folder;
  {
    const CompilerProcess process("sample");
    folder = process.folder();
    const std::string source = "int x;";
    process.write("in.c", std::as_bytes(std::span(source)));
    CHECK(run_shell(process, "cat in.c; cp in.c out.c; echo $LC_ALL $TMPDIR; pwd") ==
          source + "C " + folder + "\n" + folder + "\n");
    CHECK(text_of(process.read("out.c")) == source);
    CHECK_THROWS_WITH(process.read("none"), ContainsSubstring("cannot read " + folder + "/none"));
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("where a compiler's folder cannot be made, the error names it") {
  const char* before = getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", "/no/such", 1);
  CHECK_THROWS_WITH(CompilerProcess("sample"),
                    ContainsSubstring("sample: cannot make /no/such/tenon-sample-XXXXXX: mktemp"));
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

TEST_CASE("what a compiler says is the error") {
  const CompilerProcess process("sample");
  const auto fails = [&] { run_shell(process, "echo bad source >&2; exit 3"); };
  CHECK_THROWS_WITH(fails(), "sample: sh ended with status 3: bad source");
  CHECK(status_of(fails) == TN_ERROR_COMPILE_FAILED);
  CHECK_THROWS_WITH(run_shell(process, "kill -s SEGV $$"), ContainsSubstring("ended by signal 11"));
  const std::string missing[] = {"no-such-compiler"};
  CHECK_THROWS_WITH(process.run(missing, 60s), ContainsSubstring("not found"));
  CHECK(run_shell(process, "head -c 100000 /dev/zero").size() == 16384);
}

TEST_CASE("a compiler that does not end is killed with its children") {
  const CompilerProcess process("sample");
  const auto begin = std::chrono::steady_clock::now();
  const auto hangs = [&] { run_shell(process, "sleep 600 & echo $! > child; wait", 1s); };
  CHECK_THROWS_WITH(hangs(), "sample: sh did not end in 1 s");
  CHECK(status_of(hangs) == TN_ERROR_TIMEOUT);
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
  const std::string child = text_of(process.read("child"));
  CHECK(becomes_true([&] { return !is_running(child); }));
  CHECK(run_shell(process, "echo ready") == "ready\n");
  // With its output closed too.
  CHECK_THROWS_WITH(run_shell(process, "exec >/dev/null 2>&1; sleep 600", 1s),
                    "sample: sh did not end in 1 s");
}

TEST_CASE("a compiler leaves no process behind") {
  const CompilerProcess process("sample");
  for (const char* streams : {"", ">/dev/null 2>&1"}) {
    CHECK(run_shell(process, std::string("sleep 600 ") + streams + " & echo $! > child") == "");
    const std::string child = text_of(process.read("child"));
    CHECK(becomes_true([&] { return !is_running(child); }));
  }
}

TEST_CASE("a process that the host forks does not hold up the end of a compiler") {
  auto process = std::make_unique<CompilerProcess>("sample");
  const std::string folder = process->folder();
  const pid_t other = fork();
  if (other == 0) {
    pause();
    _exit(0);
  }
  CHECK(run_shell(*process, "echo fine") == "fine\n");
  process.reset();
  CHECK_FALSE(std::filesystem::exists(folder));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST_CASE("a compiler inherits no descriptor and no signals") {
  const int leaked = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  REQUIRE(leaked > 2);
  sigset_t mask, before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  const auto interrupt = std::signal(SIGINT, SIG_IGN);
  const CompilerProcess process("sample");
  CHECK(run_shell(process,
                  "n=3; while [ $n -lt 99 ]; do [ ! -e /proc/$$/fd/$n ] || echo $n; n=$((n+1)); "
                  "done") == "");
  for (const char* kept : {"SigBlk", "SigIgn"}) {
    const std::string line = run_shell(process, std::string("grep ") + kept + " /proc/self/status");
    const uint64_t signals = std::stoull(line.substr(7), nullptr, 16);
    CHECK((signals & ~(uint64_t{3} << 31)) == 0);  // but for the two that are glibc's own
  }
  std::signal(SIGINT, interrupt);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(leaked);
}

TEST_CASE("a host may ignore SIGCHLD") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  {
    const CompilerProcess process("sample");
    CHECK(run_shell(process, "echo fine") == "fine\n");
    CHECK_THROWS_WITH(run_shell(process, "exit 3"), "sample: sh ended with status 3");
  }
  std::signal(SIGCHLD, before);
}

TEST_CASE("where the host is killed, so are its compiler and its folder") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t host = fork();
  if (host == 0) {
    const CompilerProcess process("sample");
    const std::string& folder = process.folder();
    (void)!write(ends[1], folder.data(), folder.size());
    try {
      run_shell(process, "echo $$ > child.part; mv child.part child; exec sleep 600");
    } catch (...) {
    }
    _exit(1);
  }
  std::string folder(256, 0);
  const ssize_t size = read(ends[0], folder.data(), folder.size());
  REQUIRE(size > 0);
  folder.resize(static_cast<size_t>(size));
  REQUIRE(becomes_true([&] { return std::filesystem::exists(folder + "/child"); }));
  std::string child;
  std::getline(std::ifstream(folder + "/child"), child);
  CHECK(is_running(child));
  kill(host, SIGKILL);
  waitpid(host, nullptr, 0);
  CHECK(becomes_true([&] { return !std::filesystem::exists(folder); }));
  CHECK(becomes_true([&] { return !is_running(child); }));
  close(ends[0]);
  close(ends[1]);
}
