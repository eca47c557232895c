// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/peer_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"

namespace tenon::bench {

PeerProcess::PeerProcess(const std::string& python) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error of ours to tell
  int to[2], from[2];
  TN_REQUIRE(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "[peers] expected a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  std::string program = python, script = TENON_PEER_DRIVER;
  char* arguments[] = {program.data(), script.data(), nullptr};
  const int failed =
      posix_spawnp(&process_, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  to_ = to[1];
  from_ = from[0];
  if (failed) process_ = 0;
  try {
    const nlohmann::json found = nlohmann::json::parse(ask("{}"));
    names_ = found.at("peers").get<std::vector<std::string>>();
    missing_ = found.at("missing").get<std::vector<std::string>>();
  } catch (const std::exception& error) {
    fail(ErrorKind::kEnvironment, "[--peers] expected a Python interpreter, got {}: {}", python,
         error.what());
  }
}

PeerProcess::~PeerProcess() {
  close(to_);
  close(from_);
  if (process_) waitpid(process_, nullptr, 0);
}

std::string PeerProcess::ask(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t put = write(to_, text.data() + done, text.size() - done);
    if (put <= 0) fail(ErrorKind::kEnvironment, "the process of the peers has ended");
    done += static_cast<size_t>(put);
  }
  size_t end = 0;
  while ((end = rest_.find('\n')) == std::string::npos) {
    std::array<char, 4096> part{};
    const ssize_t got = read(from_, part.data(), part.size());
    if (got <= 0) fail(ErrorKind::kEnvironment, "the process of the peers has ended");
    rest_.append(part.data(), static_cast<size_t>(got));
  }
  std::string answer = rest_.substr(0, end);
  rest_.erase(0, end + 1);
  return answer;
}

std::string PeerProcess::prepare(const std::string& name, const Workload& workload, int threads,
                                 const std::vector<std::string>& files, const std::string& result,
                                 const std::string& gpu) {
  const std::string& expression = name.starts_with("torch")    ? workload.torch
                                  : name.starts_with("oneDNN") ? workload.onednn
                                                               : workload.tinygrad;
  const nlohmann::json line{{"prepare", name},           {"expression", expression},
                            {"threads", threads},        {"dtype", dtype_name(workload.dtype)},
                            {"shapes", workload.shapes}, {"files", files},
                            {"result", result},          {"gpu", gpu}};
  return nlohmann::json::parse(ask(line.dump())).at("missing").get<std::string>();
}

std::string PeerProcess::prepare_model(const std::string& name, const std::string& model,
                                       int threads, int checked_calls, const std::string& tensors,
                                       const std::string& result, const std::string& gpu) {
  const nlohmann::json line{
      {"prepare_model", name}, {"model", model},   {"threads", threads}, {"checked", checked_calls},
      {"tensors", tensors},    {"result", result}, {"gpu", gpu}};
  return nlohmann::json::parse(ask(line.dump())).at("missing").get<std::string>();
}

double PeerProcess::time(const std::string& name, int calls) {
  const nlohmann::json line{{"time", name}, {"calls", calls}};
  return nlohmann::json::parse(ask(line.dump())).at("seconds").get<double>();
}

}  // namespace tenon::bench
