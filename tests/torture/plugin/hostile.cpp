// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The template backend behind a wrapper that strikes at one entry point in one way. Both stand in
// the name of its file, libtenon_<entry>_<way>.so, so one library under many names is many plugins.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tenon/plugin.h"

extern "C" const tn_plugin* null_plugin_query(const tn_host*, uint32_t, uint32_t, tn_error*);

namespace {

char backend[64], entry[32], way[32];
const tn_plugin* base = nullptr;
int* volatile nowhere = nullptr;

bool is(const char* name) { return std::strcmp(way, name) == 0; }

/// From the file's name; before any other code of this library.
void read_name() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&read_name), &info) || !info.dli_fname) return;
  std::string name = info.dli_fname;
  name = name.substr(name.rfind('/') + 1);
  name = name.substr(9, name.size() - 9 - 3);  // libtenon_ and .so
  const size_t split = name.find('_');
  std::snprintf(backend, sizeof backend, "%s", name.c_str());
  std::snprintf(entry, sizeof entry, "%s", name.substr(0, split).c_str());
  std::snprintf(way, sizeof way, "%s", name.substr(split + 1).c_str());
}

int overflow(int depth) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + page[0];
}

void eat() {
  constexpr size_t kBite = size_t{16} << 20;
  for (int i = 0; i < 256; ++i)                 // 4 GiB
    std::memset(std::malloc(kBite), 1, kBite);  // NOLINT: never given back
}

void leave_children() {
  for (int i = 0; i < 20; ++i) {
    if (fork() != 0) continue;
    setsid();
    for (;;) pause();
  }
}

void strike(const char* here) {
  if (std::strcmp(entry, here) != 0) return;
  if (is("crash")) *nowhere = 1;
  if (is("abort")) std::abort();
  if (is("kill")) raise(SIGKILL);
  if (is("overflow")) overflow(0);
  while (is("hang")) pause();
  while (is("spin")) std::atomic_signal_fence(std::memory_order_seq_cst);
  if (is("quit")) _exit(0);
  if (is("exit")) std::exit(0);
  if (is("eat")) eat();
  if (is("fork")) leave_children();
  if (is("close"))
    for (int descriptor = 0; descriptor < 1024; ++descriptor) close(descriptor);
  if (is("cwd") && chdir("/") != 0) std::abort();
  if (is("umask")) umask(0);
  if (is("signal")) std::signal(SIGINT, SIG_IGN);
  if (is("block")) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
  }
  if (is("fpu")) std::fesetround(FE_UPWARD);
  if (is("stdout")) {
    const char text[] = "hello from the plugin\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) return;
  }
  if (is("locale")) std::setlocale(LC_ALL, "C.UTF-8");
  if (is("environ")) setenv("LD_PRELOAD", "/nowhere.so", 1);
  if (is("alarm")) alarm(3);
}

bool garbles(const char* here) { return std::strcmp(entry, here) == 0 && is("garbage"); }

int32_t device_enumerate(uint32_t capacity, uint32_t stride, tn_device_info* infos,
                         uint32_t reason_capacity, char* reason, uint32_t* out_count,
                         tn_error* error) {
  strike("enumerate");
  const int32_t status =
      base->device_enumerate(capacity, stride, infos, reason_capacity, reason, out_count, error);
  for (uint32_t i = 0; i < capacity && i < *out_count; ++i) {
    auto& info =
        *reinterpret_cast<tn_device_info*>(reinterpret_cast<char*>(infos) + size_t{i} * stride);
    info.kind = TN_DEVICE_GPU;  // so that it comes before the CPU
    if (garbles("enumerate")) std::memset(info.name, '\x1b', sizeof info.name);
  }
  if (garbles("enumerate")) *out_count = 4000000000u;
  return status;
}

int32_t device_open(uint32_t index, const char* options, tn_device** out, tn_error* error) {
  strike("open");
  const int32_t status = base->device_open(index, options, out, error);
  if (garbles("open")) *out = reinterpret_cast<tn_device*>(16);
  return status;
}

void device_close(tn_device* device) {
  strike("close");
  base->device_close(device);
}

int32_t properties(const tn_target* target, const tn_properties** out, tn_error* error) {
  strike("properties");
  const int32_t status = base->properties(target, out, error);
  static tn_properties table;
  if (garbles("properties") && status == TN_OK) {
    table = **out;
    table.memory_space_count = 4000000000u;
    table.dtype_stride = 3;
    *out = &table;
  }
  return status;
}

int32_t memory_allocate(tn_device* device, uint32_t space, uint64_t size, tn_memory** out,
                        tn_error* error) {
  strike("allocate");
  const int32_t status = base->memory_allocate(device, space, size, out, error);
  if (garbles("allocate")) *out = nullptr;
  return status;
}

void memory_free(tn_memory* memory) {
  strike("free");
  base->memory_free(memory);
}

int32_t memory_map(tn_memory* memory, uint64_t offset, uint64_t size, void** out, tn_error* error) {
  strike("map");
  const int32_t status = base->memory_map(memory, offset, size, out, error);
  if (garbles("map")) *out = reinterpret_cast<void*>(4096);
  return status;
}

int32_t memory_unmap(tn_memory* memory, tn_error* error) {
  strike("unmap");
  return base->memory_unmap(memory, error);
}

int32_t supports(const tn_target* target, const tn_program* program, uint32_t capacity,
                 char* reason) {
  strike("supports");
  if (garbles("supports")) return 77;
  return base->supports(target, program, capacity, reason);
}

int32_t compile(const tn_target* target, const tn_program* program, tn_compile_report* report,
                tn_executable** out, tn_error* error) {
  strike("compile");
  if (garbles("compile")) return TN_OK;
  return base->compile(target, program, report, out, error);
}

void executable_destroy(tn_executable* executable) {
  strike("destroy");
  base->executable_destroy(executable);
}

/// The last argument of each launch, spoilt.
void spoil(const tn_submission& submission) {
  for (uint32_t i = 0; i < submission.command_count; ++i) {
    const auto& command = *reinterpret_cast<const tn_command*>(
        reinterpret_cast<const char*>(submission.commands) + size_t{i} * submission.command_stride);
    if (command.kind != TN_COMMAND_LAUNCH || command.argument_count == 0) continue;
    for (uint32_t k = 0; k < command.argument_count; ++k) {
      const auto& argument = *reinterpret_cast<const tn_argument*>(
          reinterpret_cast<const char*>(command.arguments) + size_t{k} * command.argument_stride);
      void* bytes = nullptr;
      if (argument.kind != TN_ARGUMENT_BUFFER || argument.size == 0 ||
          base->memory_map(argument.memory, argument.offset, argument.size, &bytes, nullptr) !=
              TN_OK)
        continue;
      std::memset(bytes, 0x5A, argument.size);
      base->memory_unmap(argument.memory, nullptr);
    }
  }
}

int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  strike("submit");
  const int32_t status = base->submit(device, submission, error);
  if (garbles("submit")) spoil(*submission);
  return status;
}

__attribute__((constructor(101))) void begin() {
  read_name();
  strike("load");
}
__attribute__((destructor)) void end() { strike("unload"); }
void at_exit() { strike("atexit"); }

}  // namespace

extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min,
                                                      uint32_t abi_max, tn_error* error) {
  strike("query");
  std::atexit(at_exit);
  base = null_plugin_query(host, abi_min, abi_max, error);
  if (!base) return nullptr;
  static tn_plugin table;
  table = *base;
  table.backend = backend;
  table.priority = 1000;
  table.device_enumerate = device_enumerate;
  table.device_open = device_open;
  table.device_close = device_close;
  table.properties = properties;
  table.memory_allocate = memory_allocate;
  table.memory_free = memory_free;
  table.memory_map = memory_map;
  table.memory_unmap = memory_unmap;
  table.supports = supports;
  table.compile = compile;
  table.executable_destroy = executable_destroy;
  table.submit = submit;
  if (garbles("query")) {
    table.struct_size = 3;
    table.abi_version = 0xdeadbeef;
  }
  return &table;
}
