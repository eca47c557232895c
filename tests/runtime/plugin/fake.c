/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plugin that fails on demand, for the tests of core/runtime. Three devices: 0 a synchronous cpu,
 * 1 an asynchronous gpu whose memory the host does not see, 2 an accelerator. What a kernel does is
 * told by its name: fill7 writes 7 into argument 0, overrun one byte past it, broken fails. Three
 * arguments are added as i32, as the self-test wants it; device 2 does not, and fails that.
 *
 * Options of device_open: oom=BYTES of memory there are, lose=N the device is lost at submission N,
 * slow=MILLISECONDS a submission takes, stale=1 saved executables are refused, gated=1 submissions
 * begin once the gate is open: get_extension("org.tenon.fake.gate") is 1 while it is closed. Device
 * 1 imports host memory that begins with a page; get_extension("org.tenon.fake.imports") counts how
 * often it did.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/plugin.h"

#define DEVICES 3

struct tn_device {
  uint32_t index;
  uint64_t oom, lose, slow, stale, gated;
  uint64_t held, submissions;
  pthread_mutex_t mutex;
};
struct tn_memory {
  tn_device* device;
  uint64_t size;
  unsigned char* bytes;
  int imported;
};
struct tn_executable {
  char name[64];
};
struct tn_timeline {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  uint64_t value;
  int32_t failure;
};

static int32_t fail_with(tn_error* error, int32_t code, const char* message) {
  if (error) {
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
  }
  return code;
}

static int32_t enumerate(uint32_t capacity, uint32_t stride, tn_device_info* infos,
                         uint32_t reason_capacity, char* reason, uint32_t* out_count,
                         tn_error* error) {
  static const uint32_t kinds[DEVICES] = {TN_DEVICE_CPU, TN_DEVICE_GPU, TN_DEVICE_ACCELERATOR};
  (void)reason_capacity, (void)reason, (void)error;
  for (uint32_t i = 0; i < capacity && i < DEVICES; ++i) {
    tn_device_info* info = (tn_device_info*)((char*)infos + (size_t)i * stride);
    info->kind = kinds[i];
    snprintf(info->name, sizeof info->name, "fake device %u", i);
    snprintf(info->driver, sizeof info->driver, "fake 1");
    snprintf(info->target, sizeof info->target, "fake");
    if (i == 1)
      for (int b = 0; b < 16; ++b) info->uuid[b] = (uint8_t)(0x10 + b);
  }
  *out_count = DEVICES;
  return TN_OK;
}

static int32_t open_device(uint32_t index, const char* options, tn_device** out, tn_error* error) {
  tn_device* d = calloc(1, sizeof *d);
  d->index = index;
  d->oom = UINT64_MAX;
  pthread_mutex_init(&d->mutex, NULL);
  char* text = strdup(options ? options : "");
  char* rest = text;
  int32_t status = TN_OK;
  for (char* item; status == TN_OK && (item = strtok_r(rest, ",", &rest));) {
    unsigned long long value = 0;
    char key[32] = "";
    sscanf(item, "%31[^=]=%llu", key, &value);
    uint64_t* field = !strcmp(key, "oom")     ? &d->oom
                      : !strcmp(key, "lose")  ? &d->lose
                      : !strcmp(key, "slow")  ? &d->slow
                      : !strcmp(key, "stale") ? &d->stale
                      : !strcmp(key, "gated") ? &d->gated
                                              : NULL;
    if (field)
      *field = value;
    else
      status = fail_with(error, TN_ERROR_INVALID_ARGUMENT, "unknown option of the fake device");
  }
  free(text);
  if (status == TN_OK)
    *out = d;
  else
    free(d);
  return status;
}

static void close_device(tn_device* device) { free(device); }

static int32_t properties(const tn_target* target, const tn_properties** out, tn_error* error) {
  static const tn_memory_space host = {
      .struct_size = sizeof(tn_memory_space),
      .flags = TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT,
      .alignment = 64,
      .copy_from = 1};
  static const tn_memory_space far[3] = {{.struct_size = sizeof(tn_memory_space),
                                          .flags = TN_MEMORY_DEVICE,
                                          .alignment = 256,
                                          .copy_from = 7},
                                         {.struct_size = sizeof(tn_memory_space),
                                          .flags = TN_MEMORY_HOST_VISIBLE,
                                          .alignment = 64,
                                          .copy_from = 3},
                                         {.struct_size = sizeof(tn_memory_space),
                                          .flags = TN_MEMORY_IMPORT,
                                          .alignment = 64,
                                          .copy_from = 1}};
  static const tn_dtype_caps dtypes[] = {{TN_DTYPE_F32, 3, 1, 0}, {TN_DTYPE_I32, 3, 1, 0}};
  static tn_properties all[2] = {{.struct_size = sizeof(tn_properties),
                                  .flags = TN_DEVICE_COMPUTE | TN_DEVICE_SAVE,
                                  .accuracy = TN_ACCURACY_STRICT,
                                  .index_bits = 64,
                                  .dtype_count = 2,
                                  .dtype_stride = sizeof(tn_dtype_caps),
                                  .dtypes = dtypes,
                                  .memory_space_count = 1,
                                  .memory_space_stride = sizeof(tn_memory_space),
                                  .memory_spaces = &host,
                                  .max_workgroup = {1, 1, 1},
                                  .max_workgroup_threads = 1},
                                 {.struct_size = sizeof(tn_properties),
                                  .flags = TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC,
                                  .accuracy = TN_ACCURACY_STRICT,
                                  .index_bits = 64,
                                  .dtype_count = 2,
                                  .dtype_stride = sizeof(tn_dtype_caps),
                                  .dtypes = dtypes,
                                  .memory_space_count = 3,
                                  .memory_space_stride = sizeof(tn_memory_space),
                                  .memory_spaces = far,
                                  .max_workgroup = {1, 1, 1},
                                  .max_workgroup_threads = 1}};
  if (!target->device) return fail_with(error, TN_ERROR_NOT_FOUND, "no named targets");
  *out = &all[target->device->index == 1];
  return TN_OK;
}

static int32_t allocate(tn_device* device, uint32_t space, uint64_t size, tn_memory** out,
                        tn_error* error) {
  (void)space;
  pthread_mutex_lock(&device->mutex);
  const int fits = size <= device->oom && device->held <= device->oom - size;
  if (fits) device->held += size;
  pthread_mutex_unlock(&device->mutex);
  if (!fits) return fail_with(error, TN_ERROR_OUT_OF_MEMORY, "the fake memory is full");
  tn_memory* memory = malloc(sizeof *memory);
  memory->device = device;
  memory->size = size;
  memory->imported = 0;
  memory->bytes = aligned_alloc(256, (size + 255) / 256 * 256);
  memset(memory->bytes, 0xCD, size);
  *out = memory;
  return TN_OK;
}

static uint64_t imports;

static int32_t import(tn_device* device, uint32_t space, void* pointer, uint64_t size,
                      tn_memory** out, tn_error* error) {
  if (space != 2 || device->index != 1 || (uintptr_t)pointer % 4096)
    return fail_with(error, TN_ERROR_UNSUPPORTED, "the fake device imports whole pages");
  tn_memory* memory = malloc(sizeof *memory);
  *memory = (tn_memory){device, size, pointer, 1};
  __atomic_add_fetch(&imports, 1, __ATOMIC_RELAXED);
  *out = memory;
  return TN_OK;
}

static uint64_t gate_is_closed;

static const void* extension(const char* id) {
  if (strcmp(id, "org.tenon.fake.gate") == 0) return &gate_is_closed;
  return strcmp(id, "org.tenon.fake.imports") == 0 ? &imports : NULL;
}

static void free_memory(tn_memory* memory) {
  if (memory->imported) {
    free(memory);
    return;
  }
  pthread_mutex_lock(&memory->device->mutex);
  memory->device->held -= memory->size;
  pthread_mutex_unlock(&memory->device->mutex);
  free(memory->bytes);
  free(memory);
}

static int32_t map(tn_memory* memory, uint64_t offset, uint64_t size, void** out, tn_error* error) {
  if (offset > memory->size || size > memory->size - offset)
    return fail_with(error, TN_ERROR_INVALID_ARGUMENT, "a map outside the slab");
  *out = memory->bytes + offset;
  return TN_OK;
}

static int32_t unmap(tn_memory* memory, tn_error* error) {
  (void)memory, (void)error;
  return TN_OK;
}

static const char* program_name(const tn_program* program) {
  return (const char*)program + program->name;
}

static int32_t supports(const tn_target* target, const tn_program* program, uint32_t capacity,
                        char* reason) {
  (void)target;
  if (strcmp(program_name(program), "refused") != 0) return TN_SUPPORT_YES;
  if (reason) snprintf(reason, capacity, "the fake device has principles");
  return TN_SUPPORT_NO;
}

static int32_t make(const char* name, tn_executable** out) {
  *out = calloc(1, sizeof **out);
  snprintf((*out)->name, sizeof(*out)->name, "%s", name);
  return TN_OK;
}

static int32_t compile(const tn_target* target, const tn_program* program,
                       tn_compile_report* report, tn_executable** out, tn_error* error) {
  (void)target, (void)report, (void)error;
  return make(program_name(program), out);
}

static void destroy(tn_executable* executable) { free(executable); }

static int32_t save(tn_executable* executable, tn_sink sink, void* user, tn_error* error) {
  (void)error;
  sink(user, "FAKE", 4);
  sink(user, executable->name, strlen(executable->name) + 1);
  return TN_OK;
}

static int32_t load(const tn_target* target, const void* bytes, size_t size, tn_executable** out,
                    tn_error* error) {
  const char* text = bytes;
  if (target->device->stale || size < 5 || memcmp(text, "FAKE", 4) != 0 || text[size - 1])
    return fail_with(error, TN_ERROR_INCOMPATIBLE, "not saved by this build");
  return make(text + 4, out);
}

static void add(const tn_argument* a) {
  const int32_t* x = (const int32_t*)(a[0].memory->bytes + a[0].offset);
  const int32_t* y = (const int32_t*)(a[1].memory->bytes + a[1].offset);
  int32_t* sum = (int32_t*)(a[2].memory->bytes + a[2].offset);
  for (uint64_t i = 0; i < a[2].size / sizeof *sum; ++i) sum[i] = x[i] + y[i];
}

static int32_t run_command(const tn_command* c, tn_error* error) {
  if (c->kind == TN_COMMAND_COPY) {
    memcpy(c->destination->bytes + c->destination_offset, c->source->bytes + c->source_offset,
           c->size);
  } else if (c->kind == TN_COMMAND_FILL) {
    for (uint64_t i = 0; i < c->size; ++i)
      c->destination->bytes[c->destination_offset + i] =
          (unsigned char)(c->pattern >> 8 * (i % c->pattern_size));
  } else {
    const tn_argument* a = c->arguments;
    const char* name = c->executable->name;
    if (c->argument_count == 3 && a->memory->device->index != 2) {
      add(a);
      return TN_OK;
    }
    if (!strcmp(name, "broken")) return fail_with(error, TN_ERROR_INTERNAL, "a broken kernel");
    memset(a->memory->bytes + a->offset, 7, a->size + (strcmp(name, "overrun") == 0));
  }
  return TN_OK;
}

static void sleep_for(uint64_t milliseconds) {
  const struct timespec time = {0, (long)milliseconds * 1000000};
  nanosleep(&time, NULL);
}

/* A minute at most: whoever closed it may be waiting for this submission. */
static int gate_opens(void) {
  for (int i = 0; i < 60000; ++i) {
    if (!__atomic_load_n(&gate_is_closed, __ATOMIC_ACQUIRE)) return 1;
    sleep_for(1);
  }
  return 0;
}

static int32_t run_all(tn_device* device, const tn_submission* s, tn_error* error) {
  pthread_mutex_lock(&device->mutex);
  const uint64_t number = ++device->submissions;
  pthread_mutex_unlock(&device->mutex);
  if (device->slow) sleep_for(device->slow);
  if (device->gated && !gate_opens())
    return fail_with(error, TN_ERROR_TIMEOUT, "the gate of the fake device stays closed");
  if (device->lose && number >= device->lose)
    return fail_with(error, TN_ERROR_DEVICE_LOST, "the fake device fell off the bus");
  for (uint32_t i = 0; i < s->command_count; ++i) {
    const tn_command* c =
        (const tn_command*)((const char*)s->commands + (size_t)i * s->command_stride);
    const int32_t status = run_command(c, error);
    if (status != TN_OK) return status;
  }
  return TN_OK;
}

static void raise_to(tn_timeline* timeline, uint64_t value, int32_t failure) {
  pthread_mutex_lock(&timeline->mutex);
  if (failure)
    timeline->failure = failure;
  else
    timeline->value = value;
  pthread_cond_broadcast(&timeline->changed);
  pthread_mutex_unlock(&timeline->mutex);
}

static int32_t submit(tn_device* device, const tn_submission* s, tn_error* error) {
  if (device->index != 1) return run_all(device, s, error);
  int32_t failure = TN_OK; /* the waits are reached or failed: all is run at once here */
  for (uint32_t i = 0; i < s->wait_count; ++i)
    if (s->waits[i].timeline->failure) failure = s->waits[i].timeline->failure;
  if (failure == TN_OK) failure = run_all(device, s, NULL);
  for (uint32_t i = 0; i < s->signal_count; ++i)
    raise_to(s->signals[i].timeline, s->signals[i].value, failure);
  return TN_OK;
}

static int32_t timeline_create(tn_device* device, uint64_t value, tn_timeline** out,
                               tn_error* error) {
  (void)device, (void)error;
  tn_timeline* timeline = calloc(1, sizeof *timeline);
  pthread_mutex_init(&timeline->mutex, NULL);
  pthread_cond_init(&timeline->changed, NULL);
  timeline->value = value;
  *out = timeline;
  return TN_OK;
}

static void timeline_destroy(tn_timeline* timeline) { free(timeline); }

static int32_t timeline_wait(tn_timeline* timeline, uint64_t value, uint64_t timeout_ns,
                             tn_error* error) {
  (void)timeout_ns;
  pthread_mutex_lock(&timeline->mutex);
  while (timeline->value < value && !timeline->failure)
    pthread_cond_wait(&timeline->changed, &timeline->mutex);
  const int32_t failure = timeline->value < value ? timeline->failure : TN_OK;
  pthread_mutex_unlock(&timeline->mutex);
  return failure ? fail_with(error, failure, "the fake timeline failed") : TN_OK;
}

static int32_t timeline_query(tn_timeline* timeline, uint64_t* out_value, tn_error* error) {
  pthread_mutex_lock(&timeline->mutex);
  const int32_t failure = timeline->failure;
  *out_value = timeline->value;
  pthread_mutex_unlock(&timeline->mutex);
  return failure ? fail_with(error, failure, "the fake timeline failed") : TN_OK;
}

static int32_t timeline_signal(tn_timeline* timeline, uint64_t value, tn_error* error) {
  (void)error;
  raise_to(timeline, value, TN_OK);
  return TN_OK;
}

static const tn_plugin table = {.struct_size = sizeof(tn_plugin),
                                .abi_version = 1,
                                .program_min = 1,
                                .program_max = 1,
                                .priority = -100,
                                .backend = "fake",
                                .version = "1.0",
                                .license = "Apache-2.0 WITH LLVM-exception",
                                .device_enumerate = enumerate,
                                .device_open = open_device,
                                .device_close = close_device,
                                .properties = properties,
                                .memory_allocate = allocate,
                                .memory_free = free_memory,
                                .memory_map = map,
                                .memory_unmap = unmap,
                                .supports = supports,
                                .compile = compile,
                                .executable_destroy = destroy,
                                .executable_save = save,
                                .executable_load = load,
                                .submit = submit,
                                .timeline_create = timeline_create,
                                .timeline_destroy = timeline_destroy,
                                .timeline_wait = timeline_wait,
                                .timeline_query = timeline_query,
                                .timeline_signal = timeline_signal,
                                .memory_import = import,
                                .get_extension = extension};

TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                           tn_error* error) {
  (void)host;
  if (abi_min <= 1 && abi_max >= 1) return &table;
  fail_with(error, TN_ERROR_INCOMPATIBLE, "the fake plugin speaks version 1");
  return NULL;
}
