// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/variant_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "conformance/worker/worker_process.hpp"
#include "core/support/error.hpp"

extern char** environ;

namespace tenon::conformance::selftest {

VariantProcess::VariantProcess(const std::vector<std::string>& arguments,
                               const std::filesystem::path& out,
                               const std::filesystem::path& errors) {
  const std::string program = worker::own_program();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), kNew, 0644);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), kNew, 0644);
  const int error = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    fail(ErrorKind::kEnvironment, "[selftest] expected to start {}, got: {}", program,
         std::strerror(error));
}

VariantProcess::~VariantProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool VariantProcess::ended() {
  if (pid_ >= 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ < 0;
}

}  // namespace tenon::conformance::selftest
