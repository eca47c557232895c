// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/isolated_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/saved.hpp"
#include "conformance/abi/sparse_host.hpp"
#include "conformance/cases/files.hpp"
#include "core/plugin/process_state.hpp"

namespace tenon::conformance::abi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kResult = 3;
constexpr double kMostSeconds = 120, kExitSeconds = 5, kOpenExitSeconds = 30;

void say(int descriptor, const std::string& line) {
  [[maybe_unused]] const ssize_t written = write(descriptor, line.data(), line.size());
}

std::vector<tn_device_info> infos_of(const Subject& subject) {
  std::vector<tn_device_info> infos(subject.devices, abi_struct<tn_device_info>());
  uint32_t count = 0;
  tn_error error = abi_struct<tn_error>();
  expect_ok(subject.table.device_enumerate(subject.devices, sizeof(tn_device_info), infos.data(), 0,
                                           nullptr, &count, &error),
            error, "device_enumerate");
  return infos;
}

/// Calls of a plugin, and what they must leave as it was.
class Visit {
 public:
  explicit Visit(int result) : result_(result) {
    out_ = memfd_create("stdout", MFD_CLOEXEC);
    std::fflush(stdout);
    dup2(out_, STDOUT_FILENO);
    before_ = ProcessState::now();
  }

  void run(const Target& target, const IsolatedOptions& options) {
    const tn_host& host = host_of(options.host);
    static const Subject* open_subject = nullptr;  // where a device is left open
    std::unique_ptr<const Subject> own = std::make_unique<Subject>(target, host);
    const Subject& subject = *own;
    expect_unchanged("tn_plugin_query and device_enumerate");
    const std::function<void()> alive = [] {};
    if (options.has_ways) return checks::take_ways({subject, 0, alive});
    if (options.leaves_open) {
      open_subject = own.release();
      static const OpenDevice* const open =
          new OpenDevice(*open_subject, open_subject->index, open_subject->options_or_null());
      return use(*open);
    }
    const auto infos = infos_of(subject);
    expect_unchanged("device_enumerate");
    const auto expect_order = [&](const char* when) {
      const auto again = infos_of(subject);
      for (size_t i = 0; i < infos.size(); ++i)
        expect(is_same(infos[i], again[i]),
               "device_enumerate: expected device {} ({}) as in the first enumeration of the "
               "process {}, got another ({})",
               i, fixed_string(infos[i].name), when, fixed_string(again[i].name));
    };
    {
      const OpenDevice device(subject, subject.index, subject.options_or_null());
      expect_unchanged("device_open and properties");
      expect_order("after device_open");
      if (!options.saved.empty()) launch_saved(device, options.saved);
      use(device);
      expect_order("after a submission");
    }
    expect_unchanged("device_close");
    const std::string beyond = called_beyond();
    expect(beyond.empty(),
           "tn_host of {} bytes: expected nothing after them to be read, got a call of what lies "
           "where a longer one has `{}`",
           host.struct_size, beyond);
    expect_order("after device_close");
  }

 private:
  void use(const OpenDevice& device) {
    if (device.submits()) {
      if (const MemoryHandle memory = device.allocate(0, 4096)) {
        const tn_command fill = fill_command(memory.get(), 0, 4096, 7, 4);
        device.run({&fill, 1});
      }
      expect_unchanged("memory_allocate, submit and memory_free");
    }
    if (!device.computes() || !device.submits()) return;
    for (const char* kind : {"add", "sum"}) {
      for (const tn_dtype dtype : {TN_DTYPE_F32, TN_DTYPE_I32}) {
        KernelSpec spec;
        spec.kind = kind;
        spec.dtype = dtype;
        const auto loaded = load_kernel(spec, device);
        expect_unchanged("compile");
        if (loaded) launch(device, *loaded);
        expect_unchanged("a launch");
      }
    }
    expect_unchanged("executable_destroy");
  }

  /// Loaded before anything is compiled here.
  void launch_saved(const OpenDevice& device, const std::string& file) {
    const std::string bytes = read_file(file);
    const LoadAnswer answer =
        load(device, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    if (answer.status != TN_OK)
      find("error", "executable_load: expected TN_OK for what another process saved, got {}",
           status_text(answer.status));
    checks::expect_result(device, checks::any_kernel(device).kernel, answer.executable.get(),
                          "saved by another process");
  }

  static void launch(const OpenDevice& device, const Loaded& loaded) {
    const MemoryHandle out = device.allocate(0, 4096), in = device.allocate(0, 4096);
    if (!out || !in) return;
    LaunchArguments arguments;
    const std::vector<tn_command> commands = {
        fill_command(in.get(), 0, 4096, 0, 4),
        launch_command(loaded.kernel, loaded.executable.get(), loaded.kernel.extent(16),
                       {out.get(), 0}, {in.get(), 0}, 0, arguments)};
    device.run(commands);
  }

  void expect_unchanged(const char* after) {
    say(result_, fmt::format("past {}\n", after));
    const std::string changed = difference(before_, ProcessState::now());
    expect(changed.empty(), "after {}: {}", after, changed);
    std::fflush(stdout);
    char text[60];
    const ssize_t size = pread(out_, text, sizeof text, 0);
    expect(size <= 0, "after {}: standard output: expected nothing on it, got \"{}\"", after,
           std::string_view(text, size > 0 ? static_cast<size_t>(size) : 0));
  }

  ProcessState before_;
  int result_, out_ = -1;
};

struct Child {
  pid_t pid = -1;
  int result = -1;
  ~Child() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    close(result);
  }
};

void start(const Target& target, const IsolatedOptions& options, Child& child) {
  std::vector<std::string> words{
      isolated_program.string(), "isolated", "--backend", target.backend, "--host", options.host};
  if (!options.saved.empty()) words.insert(words.end(), {"--saved", options.saved});
  if (options.has_ways) words.push_back("--ways");
  if (options.leaves_open) words.push_back("--leaves-open");
  if (target.plugin) words.insert(words.end(), {"--plugin", target.plugin->string()});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  checks::need(pipe2(ends, O_CLOEXEC) == 0, "no pipe to a process of its own");
  // Above what the child uses, so that dup2 does not overwrite its own source.
  const int sink = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  close(ends[1]);
  child.result = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sink, kResult);
  posix_spawn_file_actions_addclosefrom_np(&actions, kResult + 1);
  // The plugin may have moved this process already.
  std::error_code unknown;
  const auto directory =
      std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", getppid()), unknown);
  if (!unknown) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  const int error =
      posix_spawn(&child.pid, words[0].c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sink);
  if (error != 0) child.pid = -1;
  checks::need(error == 0, "no process of its own can be started");
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Up to "done", or the end of what it says: processes that it left behind may hold the pipe.
std::string listen(int result, const std::function<void()>& alive) {
  std::string said;
  for (const auto begin = Clock::now(); seconds_since(begin) < kMostSeconds;) {
    alive();
    pollfd ready{result, POLLIN, 0};
    if (poll(&ready, 1, 200) <= 0) continue;
    char bytes[4096];
    const ssize_t n = read(result, bytes, sizeof bytes);
    if (n <= 0) break;
    said.append(bytes, static_cast<size_t>(n));
    if (said.ends_with("done\n")) break;
  }
  return said;
}

/// How it ended; nothing if it did not.
std::optional<int> end_of(Child& child, double seconds, const std::function<void()>& alive) {
  for (const auto begin = Clock::now(); seconds_since(begin) < seconds; usleep(2000)) {
    alive();
    int status = 0;
    if (waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.pid = -1;
    return status;
  }
  return {};
}

std::string signal_text(int status) {
  const char* name = sigabbrev_np(WTERMSIG(status));
  return fmt::format("SIG{} ({})", name ? name : "?", strsignal(WTERMSIG(status)));
}

/// Cuts off the lines that tell how far it came; the last of them.
std::string take_past(std::string& said) {
  std::string past = "its start";
  for (size_t end; said.starts_with("past ") && (end = said.find('\n')) != said.npos;
       said.erase(0, end + 1))
    past = said.substr(5, end - 5);
  return past;
}

}  // namespace

void run_isolated_process(const Target& target, int result, const IsolatedOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ProcessState::make_plain();
  std::string said;
  try {
    Visit(result).run(target, options);
  } catch (const Finding& finding) {
    said = fmt::format("{}\t{}\n", finding.kind, finding.text);
  } catch (const NotThere& reason) {
    said = fmt::format("left\t{}\n", reason.text);
  } catch (const Lost& lost) {
    said = fmt::format("left\t{}\n", lost.text);
  } catch (const std::exception& error) {
    said = fmt::format("left\t{}\n", error.what());
  }
  say(result, said + "done\n");
}

bool run_isolated(const Target& target, const std::function<void()>& alive,
                  const IsolatedOptions& options) {
  Child child;
  start(target, options, child);
  std::string said = listen(child.result, alive);
  const std::string past = take_past(said);
  const bool is_done = said.ends_with("done\n");
  std::optional<int> end;
  if (!is_done || options.is_plain())
    end = end_of(child, options.leaves_open ? kOpenExitSeconds : kExitSeconds, alive);
  if (!is_done) {
    checks::need(end.has_value(), "a process of its own did not come to an end");
    expect(!WIFSIGNALED(*end), "a process of its own: expected an end, got {} after {}",
           signal_text(*end), past);
    find("error", "a process of its own: expected an end, got exit status {} after {}",
         WEXITSTATUS(*end), past);
  }
  said.resize(said.size() - std::strlen("done\n"));
  if (const size_t tab = said.find('\t'); tab != said.npos) {
    const std::string kind = said.substr(0, tab),
                      text = said.substr(tab + 1, said.size() - tab - 2);
    if (kind == "left") throw NotThere{text};
    throw Finding{kind, text};
  }
  // A driver whose exit handlers hang is no news, and a program can leave without them.
  if (!end) return false;
  const char* with = options.leaves_open ? " with a device open" : "";
  expect(!WIFSIGNALED(*end),
         "a program that returned 0 from main{}: expected it to exit so, got {}", with,
         signal_text(*end));
  expect(WEXITSTATUS(*end) == 0,
         "a program that returned 0 from main{}: expected it to exit so, got exit status {}", with,
         WEXITSTATUS(*end));
  return true;
}

}  // namespace tenon::conformance::abi
