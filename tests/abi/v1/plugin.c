/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A backend as an author wrote it when ABI version 1 was new: C, the frozen header, no helpers. It
 * holds memory, copies and fills; it does not compute. Later cores must load it as it is.
 *
 * The bad plugins of ../bad include this file and replace a part of it.
 */
#include <stdlib.h>
#include <string.h>

#include "tenon/plugin.h"

#ifndef PLUGIN_NAME
#define PLUGIN_NAME "frozen"
#endif
#ifndef PLUGIN_ENUMERATE
#define PLUGIN_ENUMERATE device_enumerate
#endif

struct tn_device {
  int is_open;
};
struct tn_memory {
  unsigned char* bytes;
  uint64_t size;
};

static int32_t fail(tn_error* error, int32_t code, const char* message) {
  if (error && error->struct_size >= sizeof(tn_error)) {
    error->code = code;
    strncpy(error->message, message, sizeof error->message - 1);
    error->message[sizeof error->message - 1] = 0;
  }
  return code;
}

static inline int32_t device_enumerate(uint32_t capacity, uint32_t stride, tn_device_info* infos,
                                       uint32_t reason_capacity, char* reason, uint32_t* out_count,
                                       tn_error* error) {
  (void)stride, (void)reason_capacity, (void)reason, (void)error;
  if (capacity > 0 && infos->struct_size >= sizeof(tn_device_info)) {
    infos->kind = TN_DEVICE_STORAGE;
    strcpy(infos->name, "memory of version 1");
    strcpy(infos->target, "none");
  }
  *out_count = 1;
  return TN_OK;
}

static int32_t device_open(uint32_t index, const char* options, tn_device** out_device,
                           tn_error* error) {
  if (index != 0) return fail(error, TN_ERROR_NOT_FOUND, "expected device 0");
  if (options && *options) return fail(error, TN_ERROR_INVALID_ARGUMENT, "expected no options");
  *out_device = calloc(1, sizeof(tn_device));
  return *out_device ? TN_OK : fail(error, TN_ERROR_OUT_OF_MEMORY, "out of memory");
}

static void device_close(tn_device* device) { free(device); }

static int32_t properties(const tn_target* target, const tn_properties** out_properties,
                          tn_error* error) {
  static const tn_memory_space space = {
      .struct_size = sizeof(tn_memory_space),
      .flags = TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT,
      .alignment = 64,
      .largest = 1u << 30,
      .copy_from = 1};
  static const tn_properties table = {.struct_size = sizeof(tn_properties),
                                      .flags = TN_DEVICE_DETERMINISTIC,
                                      .accuracy = TN_ACCURACY_STRICT,
                                      .index_bits = 64,
                                      .memory_space_count = 1,
                                      .memory_space_stride = sizeof(tn_memory_space),
                                      .memory_spaces = &space};
  if (!target->device) return fail(error, TN_ERROR_NOT_FOUND, "expected an open device");
  *out_properties = &table;
  return TN_OK;
}

static int32_t memory_allocate(tn_device* device, uint32_t space, uint64_t size,
                               tn_memory** out_memory, tn_error* error) {
  (void)device, (void)space;
  tn_memory* memory = malloc(sizeof(tn_memory));
  if (!memory) return fail(error, TN_ERROR_OUT_OF_MEMORY, "out of memory");
  memory->size = size;
  memory->bytes = size > 1u << 30 ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
  if (!memory->bytes) {
    free(memory);
    return fail(error, TN_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  *out_memory = memory;
  return TN_OK;
}

static void memory_free(tn_memory* memory) {
  free(memory->bytes);
  free(memory);
}

static int32_t memory_map(tn_memory* memory, uint64_t offset, uint64_t size, void** out_pointer,
                          tn_error* error) {
  if (offset > memory->size || size > memory->size - offset) {
    return fail(error, TN_ERROR_INVALID_ARGUMENT, "expected a range of the slab");
  }
  *out_pointer = memory->bytes + offset;
  return TN_OK;
}

static int32_t memory_unmap(tn_memory* memory, tn_error* error) {
  (void)memory, (void)error;
  return TN_OK;
}

static int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  (void)device;
  for (uint32_t i = 0; i < submission->command_count; ++i) {
    const char* rows = (const char*)submission->commands;
    const tn_command* command = (const void*)(rows + (size_t)i * submission->command_stride);
    unsigned char* to =
        command->destination ? command->destination->bytes + command->destination_offset : NULL;
    switch (command->kind) {
      case TN_COMMAND_COPY:
        memcpy(to, command->source->bytes + command->source_offset, command->size);
        break;
      case TN_COMMAND_FILL:
        for (uint64_t at = 0; at < command->size; at += command->pattern_size) {
          memcpy(to + at, &command->pattern, command->pattern_size);
        }
        break;
      default:
        return fail(error, TN_ERROR_UNSUPPORTED, "expected a copy or a fill");
    }
  }
  return TN_OK;
}

static const tn_plugin table = {.struct_size = sizeof(tn_plugin),
                                .abi_version = 1,
                                .program_min = 1,
                                .program_max = 1,
                                .priority = -200,
                                .backend = PLUGIN_NAME,
                                .version = "1",
                                .license = "Apache-2.0 WITH LLVM-exception",
                                .device_enumerate = PLUGIN_ENUMERATE,
                                .device_open = device_open,
                                .device_close = device_close,
                                .properties = properties,
                                .memory_allocate = memory_allocate,
                                .memory_free = memory_free,
                                .memory_map = memory_map,
                                .memory_unmap = memory_unmap,
                                .submit = submit};

#ifndef PLUGIN_OWN_QUERY
const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                 tn_error* error) {
  (void)host;
  if (abi_min <= 1 && abi_max >= 1) return &table;
  fail(error, TN_ERROR_INCOMPATIBLE, "speaks ABI 1 to 1");
  return NULL;
}
#endif
