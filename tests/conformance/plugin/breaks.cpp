// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another plugin behind a wrapper that breaks one rule of the ABI. TENON_BREAKS_BASE is the file of
// the other one, TENON_BREAKS the rule; both may change from call to call.
#include <dlfcn.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/plugin.h"

namespace {

const tn_host* host = nullptr;
tn_plugin table;
bool forgotten = false;  // what an earlier query gave
bool was_opened = false;
std::atomic<uint64_t> signalled = 0;  // last, by the host
/// What is known of objects, in whatever thread they are made.
template <class Object, class Fact>
class Known {
 public:
  void set(Object* object, Fact fact) {
    const std::lock_guard lock(mutex_);
    facts_[object] = fact;
  }
  Fact get(Object* object) {
    const std::lock_guard lock(mutex_);
    const auto at = facts_.find(object);
    return at == facts_.end() ? Fact{} : at->second;
  }
  Fact take(Object* object) {
    const std::lock_guard lock(mutex_);
    const auto at = facts_.find(object);
    if (at == facts_.end()) return {};
    const Fact fact = at->second;
    facts_.erase(at);
    return fact;
  }

 private:
  std::mutex mutex_;
  std::map<Object*, Fact> facts_;
};

Known<tn_memory, uint64_t> sizes;                      // of slabs
Known<tn_executable, tn_executable*> cut_executables;  // what is saved in its place
std::atomic<size_t> large_slabs = 0;

bool breaks(std::string_view rule) {
  const char* chosen = std::getenv("TENON_BREAKS");
  return chosen && chosen == rule;
}

const tn_plugin* base() {
  static auto* const loaded = new std::map<std::string, const tn_plugin*>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char* file = std::getenv("TENON_BREAKS_BASE");
  const tn_plugin*& plugin = (*loaded)[file ? file : ""];
  if (!plugin && file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const auto query =
        library ? reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY)) : nullptr;
    if (query) plugin = query(host, 1, TN_ABI_VERSION, nullptr);
  }
  return plugin;
}

void lose(size_t bytes) { *static_cast<volatile char*>(std::malloc(bytes)) = 1; }

int32_t refuse(tn_error* error, int32_t code) {
  if (error && error->struct_size >= sizeof(tn_error)) {
    error->code = code;
    std::strcpy(error->message, "no");
  }
  return code;
}

int32_t device_enumerate(uint32_t capacity, uint32_t stride, tn_device_info* infos,
                         uint32_t reason_capacity, char* reason, uint32_t* count, tn_error* error) {
  if (breaks("capacity") && infos) capacity = 1;
  const int32_t status =
      base()->device_enumerate(capacity, stride, infos, reason_capacity, reason, count, error);
  if (breaks("info_overrun") && infos) std::strcpy(infos->target, "x86-64");
  if (breaks("order") && infos && was_opened) std::strcpy(infos->name, "another");
  if (breaks("info_text") && infos) std::memset(infos->name, 'x', sizeof infos->name);
  return status;
}

/// What belongs to the program, and not to a plugin.
void disturb_process() {
  if (breaks("prints")) std::puts("opened");
  if (breaks("moves")) [[maybe_unused]]
    const int moved = chdir("/usr");
  if (breaks("locale")) std::setlocale(LC_ALL, "C.UTF-8");
  if (breaks("umask")) umask(077);
  if (breaks("handler")) std::signal(SIGTERM, SIG_IGN);
  if (breaks("rounding")) std::fesetround(FE_UPWARD);
  if (breaks("environment")) setenv("PATH", "/nowhere", 1);
  if (breaks("preloads")) setenv("LD_PRELOAD", "/nowhere.so", 1);
  if (breaks("closes")) close(STDERR_FILENO);
  if (breaks("alarm")) alarm(1000);
  if (breaks("exit")) std::atexit([] { _exit(42); });
  sigset_t pipes;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  if (breaks("blocks")) pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
}

int32_t device_open(uint32_t index, const char* options, tn_device** out, tn_error* error) {
  disturb_process();
  was_opened = true;
  if (breaks("any_index")) index = 0;
  if (forgotten) return refuse(error, TN_ERROR_INTERNAL);
  if (breaks("device_leak")) lose(30000);
  if (breaks("error_leak") && options) lose(300);
  return base()->device_open(index, breaks("option") ? nullptr : options, out, error);
}

int32_t properties(const tn_target* target, const tn_properties** out, tn_error* error) {
  if (breaks("target_tail") && target->device && target->name)
    return refuse(error, TN_ERROR_INTERNAL);
  if (breaks("chain") && target->next) return refuse(error, TN_ERROR_INVALID_ARGUMENT);
  const int32_t status = base()->properties(target, out, error);
  if (breaks("out_on_error") && status != TN_OK) *out = nullptr;
  if (breaks("error_overrun") && status != TN_OK && error)
    std::memset(error->message, 'x', sizeof error->message);
  if (breaks("target") && status == TN_ERROR_NOT_FOUND) {
    tn_target known{};
    known.struct_size = sizeof known;
    known.name = "interpreter";
    return base()->properties(&known, out, error);
  }
  if (breaks("alignment") && status == TN_OK) {
    static tn_properties changed;
    static tn_memory_space space;
    changed = **out;
    space = *changed.memory_spaces;
    space.alignment = 48;
    changed.memory_spaces = &space;
    *out = &changed;
  }
  return status;
}

int32_t memory_allocate(tn_device* device, uint32_t space, uint64_t size, tn_memory** out,
                        tn_error* error) {
  if (breaks("host_leak") || breaks("host_code")) {
    void* first = host->allocate(host->user, 64, 16);
    if (!first) return refuse(error, TN_ERROR_OUT_OF_MEMORY);
    void* second = host->allocate(host->user, 64, 16);
    if (!second && breaks("host_leak")) return refuse(error, TN_ERROR_OUT_OF_MEMORY);
    host->release(host->user, first, 64, 16);
    if (!second) return refuse(error, TN_ERROR_INTERNAL);
    host->release(host->user, second, 64, 16);
  }
  // At most two large slabs at a time, of which a refused one stays one.
  const bool is_large = size > uint64_t{1} << 30;
  if (breaks("account") && is_large && ++large_slabs > 2)
    return refuse(error, TN_ERROR_OUT_OF_MEMORY);
  uint64_t room = breaks("account") && is_large ? 4096 : size;
  if (breaks("misaligned") && size >= 10000) room += 16;  // for what memory_map shifts
  const int32_t status = base()->memory_allocate(device, space, room, out, error);
  if (status == TN_OK) sizes.set(*out, size);
  const bool full = status == TN_ERROR_OUT_OF_MEMORY || size > uint64_t{1} << 30;
  return full && breaks("out_of_memory") ? refuse(error, TN_ERROR_INVALID_ARGUMENT) : status;
}

/// Not the caller's memory but a copy of it.
int32_t memory_import(tn_device* device, uint32_t space, void* pointer, uint64_t size,
                      tn_memory** out, tn_error* error) {
  if (!breaks("import")) return base()->memory_import(device, space, pointer, size, out, error);
  const int32_t status = base()->memory_allocate(device, space, size, out, error);
  void* copy = nullptr;
  if (status == TN_OK && base()->memory_map(*out, 0, size, &copy, error) == TN_OK) {
    std::memcpy(copy, pointer, size);
    base()->memory_unmap(*out, error);
  }
  return status;
}

void memory_free(tn_memory* memory) {
  if (sizes.take(memory) > uint64_t{1} << 30) --large_slabs;
  if (!breaks("memory_leak")) base()->memory_free(memory);
}

int32_t memory_map(tn_memory* memory, uint64_t offset, uint64_t size, void** out, tn_error* error) {
  if (breaks("map_offset") && offset % 4096 != 0 && offset > 4096) {
    size += offset % 4096;
    offset -= offset % 4096;
  }
  const int32_t status = base()->memory_map(memory, offset, size, out, error);
  const uint64_t whole = sizes.get(memory);
  static char shared_by_all[20];
  if (breaks("alias") && status == TN_OK && whole == 20) *out = shared_by_all + offset;
  if (breaks("misaligned") && status == TN_OK && whole >= 10000)
    *out = static_cast<char*>(*out) + 16;
  return status;
}

int32_t supports(const tn_target* target, const tn_program* program, uint32_t capacity,
                 char* reason) {
  if (breaks("reason_overrun") && reason) std::memcpy(reason, "because", 8);
  if (breaks("malformed") && program->magic != TN_PROGRAM_MAGIC) return TN_SUPPORT_YES;
  const int32_t answer = base()->supports(target, program, capacity, reason);
  if (breaks("no_reason") && answer == TN_SUPPORT_NO && capacity) reason[0] = 0;
  return answer;
}

/// A copy of the program in which one thing is wrong.
struct Changed {
  explicit Changed(const tn_program* program)
      : bytes(static_cast<char*>(std::aligned_alloc(16, (program->total_size + 15) / 16 * 16))) {
    std::memcpy(bytes, program, program->total_size);
  }
  ~Changed() { std::free(bytes); }
  const tn_program* get() const { return reinterpret_cast<const tn_program*>(bytes); }
  tn_op& op(uint32_t i) {
    return *reinterpret_cast<tn_op*>(bytes + get()->ops + size_t{i} * get()->op_stride);
  }
  uint32_t* operands(const tn_op& op) {
    return reinterpret_cast<uint32_t*>(bytes + get()->operands) + op.operands;
  }
  const tn_param& param(uint64_t i) const {
    return *reinterpret_cast<const tn_param*>(bytes + get()->params + i * get()->param_stride);
  }
  char* bytes;
};

void cut_constants(Changed& program) {
  for (uint32_t i = 0; i < program.get()->op_count; ++i)
    if (program.op(i).op == TN_OP_CONST) program.op(i).imm &= 0xffffffff;
}

void lose_axis(Changed& program) {
  for (uint32_t i = 0; i < program.get()->op_count; ++i) {
    tn_op& op = program.op(i);
    if (op.op != TN_OP_INDEX || op.imm != TN_AXIS_BLOCK_Z) continue;
    op.op = TN_OP_CONST;
    op.imm = 0;
  }
}

/// Loads and stores of the last shared array go to the first.
void overlay_shared(Changed& program) {
  uint32_t first = UINT32_MAX, last = UINT32_MAX;
  for (uint32_t i = 0; i < program.get()->op_count; ++i) {
    const tn_op& op = program.op(i);
    if (op.op != TN_OP_PARAM || program.param(op.imm).space != TN_SPACE_SHARED) continue;
    if (first == UINT32_MAX) first = i;
    last = i;
  }
  for (uint32_t i = 0; i < program.get()->op_count; ++i) {
    const tn_op& op = program.op(i);
    if (op.op != TN_OP_TAKE && op.op != TN_OP_STORE) continue;
    if (program.operands(op)[0] == last) program.operands(op)[0] = first;
  }
}

int32_t compile(const tn_target* target, const tn_program* program, tn_compile_report* report,
                tn_executable** out, tn_error* error) {
  if (breaks("needs_device") && !target->device) return refuse(error, TN_ERROR_UNSUPPORTED);
  if (breaks("shared_overlap") || breaks("block_axis")) {
    if (base()->supports(target, program, 0, nullptr) != TN_SUPPORT_NO) {
      Changed changed(program);
      breaks("block_axis") ? lose_axis(changed) : overlay_shared(changed);
      return base()->compile(target, changed.get(), report, out, error);
    }
  }
  const int32_t status =
      base()->compile(target, program, report, out, breaks("error_silent") ? nullptr : error);
  if (breaks("saved_constants") && status == TN_OK) {
    Changed changed(program);
    cut_constants(changed);
    tn_executable* cut = nullptr;
    base()->compile(target, changed.get(), nullptr, &cut, nullptr);
    cut_executables.set(*out, cut);
  }
  if (breaks("report_overrun") && report) report->compile_ns = 7;
  return status;
}

int32_t executable_save(tn_executable* executable, tn_sink sink, void* user, tn_error* error) {
  tn_executable* cut = breaks("saved_constants") ? cut_executables.get(executable) : nullptr;
  return base()->executable_save(cut ? cut : executable, sink, user, error);
}

void executable_destroy(tn_executable* executable) {
  if (tn_executable* cut = cut_executables.take(executable)) base()->executable_destroy(cut);
  if (!breaks("executable_leak")) base()->executable_destroy(executable);
}

int32_t executable_load(const tn_target* target, const void* bytes, size_t size,
                        tn_executable** out, tn_error* error) {
  const int32_t status = base()->executable_load(target, bytes, size, out, error);
  return status != TN_OK && breaks("damaged") ? refuse(error, TN_ERROR_INTERNAL) : status;
}

const tn_command& command_of(const tn_submission& submission, uint32_t i) {
  return *reinterpret_cast<const tn_command*>(reinterpret_cast<const char*>(submission.commands) +
                                              size_t{i} * submission.command_stride);
}

/// Runs changed copies of the commands.
int32_t submit_changed(tn_device* device, tn_submission submission, bool reversed,
                       tn_error* error) {
  std::vector<tn_command> commands;
  std::vector<std::vector<tn_argument>> rows(submission.command_count);
  if (breaks("most_commands") && submission.command_count > 64) submission.command_count = 64;
  for (uint32_t i = 0; i < submission.command_count; ++i) {
    tn_command command = command_of(submission, i);
    if (breaks("grid"))
      for (uint32_t& axis : command.grid) axis = axis > 4096 ? 4096 : axis;
    if (breaks("copy_source")) command.source_offset &= ~uint64_t{1};
    if (breaks("scalar") || breaks("bound_offset")) {
      rows[i].assign(command.arguments, command.arguments + command.argument_count);
      for (tn_argument& row : rows[i]) {
        if (breaks("scalar")) row.scalar &= 0xffffffff;
        if (breaks("bound_offset")) row.offset &= ~uint64_t{255};
      }
      command.arguments = rows[i].data();
    }
    if (breaks("odd_fill") && command.kind == TN_COMMAND_FILL)
      command.destination_offset -= command.destination_offset % command.pattern_size;
    if (breaks("offset_bits")) command.destination_offset &= 0xffffffff;
    commands.push_back(command);
  }
  if (reversed) commands = {commands.rbegin(), commands.rend()};
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.commands = commands.data();
  submission.command_stride = sizeof(tn_command);
  return base()->submit(device, &submission, error);
}

int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  const bool whole = submission->struct_size >= sizeof(tn_submission);
  if (breaks("long") && submission->struct_size > sizeof(tn_submission))
    return refuse(error, TN_ERROR_INVALID_ARGUMENT);
  if (breaks("submission_leak")) lose(300);
  for (uint32_t i = 0; i < submission->command_count; ++i) {
    const tn_command& command = command_of(*submission, i);
    if (breaks("command_tail") && command.reserved2 != 0)
      return refuse(error, TN_ERROR_INVALID_ARGUMENT);
    const bool none = command.grid[0] == 0 || command.grid[1] == 0 || command.grid[2] == 0;
    if (breaks("zero_grid") && command.kind == TN_COMMAND_LAUNCH && none)
      return refuse(error, TN_ERROR_INVALID_ARGUMENT);
  }
  const bool changes = breaks("odd_fill") || breaks("reversed") || breaks("offset_bits") ||
                       breaks("most_commands") || breaks("grid") || breaks("copy_source") ||
                       breaks("scalar") || breaks("bound_offset");
  if (whole && submission->command_count > 0 && changes)
    return submit_changed(device, *submission, breaks("reversed"), error);
  if (whole && breaks("waits")) {
    tn_submission eager = *submission;
    eager.wait_count = 0;
    const int32_t status = base()->submit(device, &eager, error);
    // Over before the caller goes on: that it came too early shows every time.
    for (uint32_t i = 0; status == TN_OK && i < eager.signal_count; ++i)
      base()->timeline_wait(eager.signals[i].timeline, eager.signals[i].value, UINT64_MAX, nullptr);
    return status;
  }
  return base()->submit(device, submission, error);
}

void timeline_destroy(tn_timeline* timeline) {
  if (!breaks("timeline_leak")) base()->timeline_destroy(timeline);
}

int32_t timeline_wait(tn_timeline* timeline, uint64_t value, uint64_t timeout, tn_error* error) {
  if (breaks("long_timeout") && timeout != UINT64_MAX) timeout *= 15;
  if (breaks("short_timeout") && timeout != UINT64_MAX) timeout /= 10;
  const int32_t status = base()->timeline_wait(timeline, value, timeout, error);
  return status == TN_ERROR_TIMEOUT && breaks("timeout") ? static_cast<int32_t>(TN_OK) : status;
}

int32_t timeline_query(tn_timeline* timeline, uint64_t* out, tn_error* error) {
  const int32_t status = base()->timeline_query(timeline, out, error);
  if (breaks("query") && status == TN_OK) *out /= 2;
  if (breaks("backwards") && status == TN_OK) *out = signalled;
  return status;
}

int32_t timeline_signal(tn_timeline* timeline, uint64_t value, tn_error* error) {
  signalled = value;
  return base()->timeline_signal(timeline, value, error);
}

const void* get_extension(const char* id) {
  return breaks("extension") ? &table : base()->get_extension(id);
}

}  // namespace

extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* given, uint32_t abi_min,
                                                      uint32_t abi_max, tn_error* error) {
  host = given;
  if (!base()) return nullptr;
  forgotten = breaks("forgets") && abi_min > TN_ABI_VERSION;
  if (abi_min > TN_ABI_VERSION && !breaks("versions")) {
    if (error && error->struct_size >= sizeof(tn_error)) {
      error->code = TN_ERROR_INCOMPATIBLE;
      std::strcpy(error->message, "speaks ABI 1 to 1");
    }
    return nullptr;
  }
  if (abi_max < TN_ABI_VERSION) return nullptr;
  const int32_t priority = table.priority;
  table = *base();
  table.priority = breaks("table") ? priority + 1 : 0;
  table.backend = "breaks";
  table.device_enumerate = device_enumerate;
  table.device_open = device_open;
  table.properties = properties;
  table.memory_allocate = memory_allocate;
  table.memory_free = memory_free;
  table.memory_map = memory_map;
  table.memory_import = base()->memory_import ? memory_import : nullptr;
  table.supports = supports;
  table.compile = compile;
  table.executable_destroy = executable_destroy;
  table.executable_save = base()->executable_save ? executable_save : nullptr;
  table.executable_load = executable_load;
  table.submit = submit;
  table.timeline_destroy = timeline_destroy;
  table.timeline_wait = timeline_wait;
  table.timeline_query = timeline_query;
  table.timeline_signal = base()->timeline_signal ? timeline_signal : nullptr;
  table.get_extension = get_extension;
  return &table;
}
