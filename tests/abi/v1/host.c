/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A host as it was when ABI version 1 was new, against today's plugins. It hands over structs that
 * are shorter and longer than the plugin's own, and checks that nothing past their end is touched.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/plugin.h"

const tn_program* host_program(void);

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: %s\n%s\n", __FILE__, __LINE__, #condition, error.message); \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

enum { kCount = 100, kCanary = 0x5a };
static tn_error error = TN_INIT(tn_error);

static int is_canary(const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (((const unsigned char*)bytes)[i] != kCanary) return 0;
  }
  return 1;
}

/* Versions meet in a range, both ways. */
static const tn_plugin* check_query(tn_plugin_query_fn query) {
  CHECK(query(NULL, 2, 3, &error) == NULL && error.code == TN_ERROR_INCOMPATIBLE);
  CHECK(query(NULL, 0, 0, NULL) == NULL);
  const tn_plugin* plugin = query(NULL, 1, 1000, &error);
  CHECK(plugin && plugin->abi_version >= 1 && plugin->abi_version <= 1000);
  plugin = query(NULL, 1, 1, &error);
  CHECK(plugin && plugin->abi_version == 1 && plugin->struct_size >= sizeof(tn_plugin));
  return plugin;
}

/* Errors of a shorter writer stay inside their size. */
static void check_short_error(const tn_plugin* plugin) {
  const size_t size = offsetof(tn_error, message) + 8;
  tn_error small;
  tn_device* device = NULL;
  memset(&small, kCanary, sizeof small);
  small.struct_size = (uint32_t)size;
  CHECK(plugin->device_open(1000000, NULL, &device, &small) != TN_OK && device == NULL);
  CHECK(is_canary((const char*)&small + size, sizeof small - size));
}

static void check_enumerate(const tn_plugin* plugin) {
  struct {
    tn_device_info info;
    unsigned char later[32];
  } rows[2];
  const size_t small = offsetof(tn_device_info, name) + 4;
  uint32_t count = 0;
  memset(rows, kCanary, sizeof rows);
  rows[0].info.struct_size = sizeof rows[0]; /* of a newer host */
  rows[1].info.struct_size = sizeof rows[1];
  CHECK(plugin->device_enumerate(2, sizeof rows[0], &rows[0].info, 0, NULL, &count, &error) ==
        TN_OK);
  CHECK(count >= 1 && rows[0].info.kind != 0);
  CHECK(is_canary(rows[0].later, sizeof rows[0].later));
  memset(rows, kCanary, sizeof rows);
  rows[0].info.struct_size = (uint32_t)small;
  CHECK(plugin->device_enumerate(1, sizeof rows[0], &rows[0].info, 0, NULL, &count, &error) ==
        TN_OK);
  CHECK(is_canary((const char*)&rows[0] + small, sizeof rows[0] - small));
}

static tn_memory* allocate(const tn_plugin* plugin, tn_device* device) {
  tn_memory* memory = NULL;
  CHECK(plugin->memory_allocate(device, 0, kCount * sizeof(float), &memory, &error) == TN_OK);
  return memory;
}

static float* map(const tn_plugin* plugin, tn_memory* memory) {
  void* pointer = NULL;
  CHECK(plugin->memory_map(memory, 0, kCount * sizeof(float), &pointer, &error) == TN_OK);
  return pointer;
}

/* One command of a newer host's size; waits where the device is asynchronous. */
static void submit(const tn_plugin* plugin, tn_device* device, uint32_t flags, tn_command command) {
  struct {
    tn_command command;
    unsigned char later[40];
  } wide;
  memset(&wide, kCanary, sizeof wide);
  wide.command = command;
  wide.command.struct_size = sizeof wide;
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = 1;
  submission.command_stride = sizeof wide;
  submission.commands = &wide.command;
  tn_point done = {NULL, 1};
  if (flags & TN_DEVICE_ASYNC) {
    CHECK(plugin->timeline_create(device, 0, &done.timeline, &error) == TN_OK);
    submission.signals = &done;
    submission.signal_count = 1;
  }
  CHECK(plugin->submit(device, &submission, &error) == TN_OK);
  if (done.timeline) {
    CHECK(plugin->timeline_wait(done.timeline, 1, UINT64_MAX, &error) == TN_OK);
    plugin->timeline_destroy(done.timeline);
  }
}

static void check_kernel(const tn_plugin* plugin, tn_device* device, uint32_t flags) {
  tn_target target = TN_INIT(tn_target);
  target.struct_size = offsetof(tn_target, name); /* a shorter writer: no name */
  target.device = device;
  target.name = (const char*)1; /* must not be read */
  char reason[64];
  CHECK(plugin->supports(&target, host_program(), sizeof reason, reason) != TN_SUPPORT_NO);
  tn_compile_report report;
  memset(&report, kCanary, sizeof report);
  report.struct_size = offsetof(tn_compile_report, registers);
  tn_executable* executable = NULL;
  CHECK(plugin->compile(&target, host_program(), &report, &executable, &error) == TN_OK);
  CHECK(is_canary(&report.registers, sizeof report - offsetof(tn_compile_report, registers)));

  tn_memory* x = allocate(plugin, device);
  tn_memory* y = allocate(plugin, device);
  float* in = map(plugin, x);
  for (int i = 0; i < kCount; ++i) in[i] = (float)i;
  CHECK(plugin->memory_unmap(x, &error) == TN_OK);
  struct {
    tn_argument argument;
    unsigned char later[24];
  } arguments[2];
  memset(arguments, kCanary, sizeof arguments);
  for (int i = 0; i < 2; ++i) {
    const tn_argument argument = {TN_ARGUMENT_BUFFER, 0, i ? y : x, 0, kCount * sizeof(float), 0};
    arguments[i].argument = argument;
  }
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_LAUNCH;
  command.executable = executable;
  command.grid[0] = kCount;
  command.grid[1] = command.grid[2] = 1;
  for (int axis = 0; axis < 3; ++axis) command.block[axis] = command.cluster[axis] = 1;
  command.argument_count = 2;
  command.argument_stride = sizeof arguments[0];
  command.arguments = &arguments[0].argument;
  submit(plugin, device, flags, command);
  const float* out = map(plugin, y);
  for (int i = 0; i < kCount; ++i) CHECK(out[i] == 2 * (float)i);
  CHECK(plugin->memory_unmap(y, &error) == TN_OK);
  plugin->memory_free(x);
  plugin->memory_free(y);
  plugin->executable_destroy(executable);
}

static void check_copy_and_fill(const tn_plugin* plugin, tn_device* device, uint32_t flags) {
  tn_memory* x = allocate(plugin, device);
  tn_memory* y = allocate(plugin, device);
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_FILL;
  command.destination = x;
  command.size = kCount * sizeof(float);
  command.pattern = 0x40490fdb; /* pi */
  command.pattern_size = 4;
  submit(plugin, device, flags, command);
  command.kind = TN_COMMAND_COPY;
  command.source = x;
  command.destination = y;
  submit(plugin, device, flags, command);
  const float* out = map(plugin, y);
  for (int i = 0; i < kCount; ++i) CHECK(out[i] > 3.14f && out[i] < 3.15f);
  CHECK(plugin->memory_unmap(y, &error) == TN_OK);
  plugin->memory_free(x);
  plugin->memory_free(y);
}

int main(int count, char** arguments) {
  if (count != 2) {
    fprintf(stderr, "expected the path of one plugin\n");
    return 2;
  }
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  tn_plugin_query_fn query;
  *(void**)&query = dlsym(library, TN_PLUGIN_QUERY);
  CHECK(query);
  const tn_plugin* plugin = check_query(query);
  check_short_error(plugin);
  check_enumerate(plugin);
  tn_device* device = NULL;
  CHECK(plugin->device_open(0, NULL, &device, &error) == TN_OK);
  tn_target target = TN_INIT(tn_target);
  target.device = device;
  const tn_properties* properties = NULL;
  CHECK(plugin->properties(&target, &properties, &error) == TN_OK);
  CHECK(properties->struct_size >= sizeof(tn_properties) && properties->memory_space_count > 0);
  check_copy_and_fill(plugin, device, properties->flags);
  if (properties->flags & TN_DEVICE_COMPUTE) check_kernel(plugin, device, properties->flags);
  plugin->device_close(device);
  printf("%s %s: as version 1 expects\n", plugin->backend, plugin->version);
  return 0;
}
