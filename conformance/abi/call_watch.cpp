// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the table have no word for their caller, so each wrapper belongs to one table of a
// few: a process seldom holds more than one plugin.
#include "conformance/abi/call_watch.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/plugin/process_state.hpp"

#define TN_EACH_FUNCTION(X) \
  X(device_enumerate)       \
  X(device_open)            \
  X(device_close)           \
  X(properties)             \
  X(memory_allocate)        \
  X(memory_free)            \
  X(memory_map)             \
  X(memory_unmap)           \
  X(supports)               \
  X(compile)                \
  X(executable_destroy)     \
  X(executable_text)        \
  X(executable_save)        \
  X(executable_load)        \
  X(submit)                 \
  X(timeline_create)        \
  X(timeline_destroy)       \
  X(timeline_wait)          \
  X(timeline_query)         \
  X(timeline_signal)        \
  X(memory_import)          \
  X(get_extension)

namespace tenon::conformance::abi {
namespace {

constexpr size_t kTables = 6;  ///< the tests' own plugins; one in a worker

/// Standard output where it was caught.
class Output {
 public:
  void take_over() {
    const int file = memfd_create("stdout", MFD_CLOEXEC);
    if (file < 0) return;
    std::fflush(stdout);
    dup2(file, STDOUT_FILENO);
    file_ = file;
  }
  /// What came since the last question; its beginning, if it is long.
  std::string fresh() {
    if (file_ < 0) return {};
    std::fflush(stdout);
    struct stat now {};
    if (fstat(file_, &now) != 0 || now.st_size <= seen_) return {};
    std::string text(static_cast<size_t>(std::min<off_t>(now.st_size - seen_, kMost)), '\0');
    const ssize_t size = pread(file_, text.data(), text.size(), seen_);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    seen_ = now.st_size;
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    return text.substr(0, kShown);
  }

 private:
  static constexpr off_t kMost = 1 << 16, kShown = 60;
  int file_ = -1;
  off_t seen_ = 0;
};

class Watch {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    has_begun_ = true;
    before_ = ProcessState::now();
    quick_ = ProcessState::of_calls();
    output_.fresh();
  }

  void enter() {
    ++calls_;
    ++running_;
  }
  void leave(const char* function) {
    --running_;
    const uint64_t calls = calls_;
    const bool was_alone = running_ == 0;
    ProcessState now = ProcessState::of_calls();
    const std::lock_guard lock(mutex_);
    // Another thread's call may change what is the process's as long as it runs.
    if (!was_alone || calls_ != calls) {
      now.directory = quick_.directory;
      now.locale = quick_.locale;
      now.handlers = quick_.handlers;
    }
    note(difference(quick_, now), function);
    note_output(function);
  }

  std::string take() {
    constexpr const char* kCase = "the calls of this case";
    const std::lock_guard lock(mutex_);
    if (!has_begun_) return {};
    if (change_.empty()) note(difference(before_, ProcessState::now()), kCase);
    if (change_.empty()) note_output(kCase);
    if (change_.empty()) return {};
    // What was said is said; the next case begins as this one did, as far as it can.
    before_.put_back();
    before_ = ProcessState::now();
    quick_ = ProcessState::of_calls();
    return std::exchange(change_, {});
  }

  void accept() {
    const std::lock_guard lock(mutex_);
    before_ = ProcessState::now();
    quick_ = ProcessState::of_calls();
  }

  Output& output() { return output_; }

 private:
  void note(const std::string& change, const char* after) {
    if (change_.empty() && !change.empty()) change_ = fmt::format("after {}: {}", after, change);
  }
  void note_output(const char* after) {
    if (const std::string text = output_.fresh(); !text.empty())
      note(fmt::format("standard output: expected nothing on it, got \"{}\"", text), after);
  }

  std::atomic<uint64_t> calls_{0}, running_{0};
  std::mutex mutex_;
  ProcessState before_, quick_;
  Output output_;
  std::string change_;
  bool has_begun_ = false;
};

Watch& watch() {
  static auto* const instance = new Watch;  // threads of plugins outlive what is static
  return *instance;
}

std::atomic<bool> floats_are_put_back{false};

tn_plugin tables[kTables];
size_t table_count = 0;
std::mutex tables_mutex;

template <size_t Table, auto Function>
struct Wrapper;

template <size_t Table, class Result, class... Arguments,
          Result (*tn_plugin::*Function)(Arguments...)>
struct Wrapper<Table, Function> {
  static const char* name;
  static Result call(Arguments... arguments) {
    struct Call {
      const int rounding = std::fegetround();
      const uint64_t control = float_control();
      Call() { watch().enter(); }
      ~Call() {
        watch().leave(name);
        if (!floats_are_put_back) return;
        // It is told; what judges the results on this thread shall not compute by it.
        if (std::fegetround() != rounding) std::fesetround(rounding);
        if (float_control() != control) set_float_control(control);
      }
    };
    const Call call;
    return (tables[Table].*Function)(arguments...);
  }
};
template <size_t Table, class Result, class... Arguments,
          Result (*tn_plugin::*Function)(Arguments...)>
const char* Wrapper<Table, Function>::name = "";

/// What the plugin leaves out stays left out.
template <size_t Table, auto Function>
void wrap(tn_plugin& table, const char* name) {
  if (!(table.*Function)) return;
  Wrapper<Table, Function>::name = name;
  table.*Function = Wrapper<Table, Function>::call;
}

template <size_t Table>
void wrap_all(tn_plugin& table) {
#define TN_WRAP(name) wrap<Table, &tn_plugin::name>(table, #name);
  TN_EACH_FUNCTION(TN_WRAP)
#undef TN_WRAP
}

template <size_t... Table>
void wrap_as(size_t which, tn_plugin& table, std::index_sequence<Table...>) {
  ((Table == which ? wrap_all<Table>(table) : void()), ...);
}

}  // namespace

tn_plugin watched(const tn_plugin& table) {
  const std::lock_guard lock(tables_mutex);
  size_t which = 0;
  while (which < table_count && std::memcmp(&tables[which], &table, sizeof table) != 0) ++which;
  watch().begin();
  tn_plugin out = table;
  if (which == kTables) return out;
  tables[which] = table;
  table_count = std::max(table_count, which + 1);
  wrap_as(which, out, std::make_index_sequence<kTables>());
  return out;
}

std::string take_process_change() { return watch().take(); }

void put_back_floats() { floats_are_put_back = true; }

void accept_process() { watch().accept(); }

void catch_standard_output() {
  watch().output().take_over();
  watch().begin();
}

}  // namespace tenon::conformance::abi
