/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tenon for applications in any language: contexts, devices, tensors, and graphs from text.
 *
 *   tenon_context* context;
 *   tenon_graph* graph;
 *   tenon_tensor *x, *y;
 *   const char* text = "graph twice(%x: f32[n]) where 1 <= n <= 4096 {\n"
 *                      "  %y = add %x, %x : f32[n]\n"
 *                      "  return %y\n}\n";
 *   const float values[] = {1, 2, 3};
 *   float out[3];
 *   const int64_t shape[] = {3};
 *   if (tenon_context_create(NULL, &context) || tenon_graph_parse(context, text, NULL, &graph) ||
 *       tenon_tensor_create(context, TENON_F32, 1, shape, values, sizeof values, &x) ||
 *       tenon_graph_run(graph, &x, 1, NULL, &y, 1) || tenon_tensor_read(y, out, sizeof out))
 *     puts(tenon_last_error());
 *
 * docs/ir.md has the grammar of graphs.
 *
 * What a function returns is TENON_OK or an error; then nothing was written to where results go,
 * and tenon_last_error says what was expected and what was found. Objects that a function makes
 * are the caller's, who destroys them, in any order; null may be destroyed. Strings are UTF-8.
 * Every function may be called from several threads at once, on the same objects too, but for the
 * destruction of what another thread uses. A child made by fork must not use what its parent made.
 * Rounding, subnormals and traps of the calling thread do not matter, and stay as they are.
 *
 * The library is libtenon_c; docs/c-api.md has more. This interface grows by appending: functions,
 * fields at the end of structs that begin with their size, codes. What is here stays, so a program
 * that was built with an older header runs with a newer library. An older library refuses options
 * that it does not know, unless they are 0.
 */
#ifndef TENON_H
#define TENON_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define TENON_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TENON_EXPORT __attribute__((visibility("default")))
#else
#define TENON_EXPORT
#endif

typedef struct tenon_context tenon_context; /* devices, plans and caches */
typedef struct tenon_tensor tenon_tensor;   /* a value on a device; does not change */
typedef struct tenon_graph tenon_graph;     /* a function of tensors; does not change */

typedef int32_t tenon_status;
enum {
  TENON_OK = 0,
  TENON_ERROR_INVALID = 1,       /* the caller's mistake: a shape, a dtype, a text, an option */
  TENON_ERROR_UNSUPPORTED = 2,   /* legal, and no chosen device can do it */
  TENON_ERROR_ENVIRONMENT = 3,   /* a plugin, driver, file or permission is missing */
  TENON_ERROR_OUT_OF_MEMORY = 4, /* of the host or of a device */
  TENON_ERROR_DEVICE_LOST = 5,   /* the device does nothing more in this context */
  TENON_ERROR_INTERNAL = 6       /* a bug of Tenon or of a plugin */
};

/* The message of the last call of this thread that failed, "[op] expected ..., got ...": valid
 * until the next one that fails; "" before the first. */
TENON_EXPORT const char* tenon_last_error(void);

/* "0.1.0". */
TENON_EXPORT const char* tenon_version(void);

/* ---- Dtypes ---------------------------------------------------------------------------------- */

/* Codes are never renumbered, and are those of tenon/dtypes.def. A bool is a byte, 0 or 1. */
typedef uint32_t tenon_dtype;
enum {
  TENON_BOOL = 1,
  TENON_I8 = 2,
  TENON_I16 = 3,
  TENON_I32 = 4,
  TENON_I64 = 5,
  TENON_U8 = 6,
  TENON_U16 = 7,
  TENON_U32 = 8,
  TENON_U64 = 9,
  TENON_F16 = 16,
  TENON_BF16 = 17,
  TENON_F32 = 18,
  TENON_F64 = 19,
  TENON_F8E4M3 = 24,
  TENON_F8E5M2 = 25
};

/* Bytes of an element; 0 for what is no dtype. */
TENON_EXPORT uint32_t tenon_dtype_size(tenon_dtype dtype);
/* "f32"; null for what is no dtype. */
TENON_EXPORT const char* tenon_dtype_name(tenon_dtype dtype);

/* ---- Contexts and devices -------------------------------------------------------------------- */

/* Set `size` to sizeof(tenon_context_options) and all else to 0 for the defaults. What is null is
 * taken from the environment (docs/environment.md). */
typedef struct tenon_context_options {
  uint32_t size;
  uint32_t plugin_count;
  const char* devices;        /* as TENON_DEVICES: "cuda:0,vulkan,cpu" */
  const char* cache_dir;      /* as TENON_CACHE_DIR */
  const char* const* plugins; /* files that come before all others */
} tenon_context_options;

/* `options` may be null. TENON_ERROR_INVALID where `devices` is no selector, or names a backend or
 * device that there is not; TENON_ERROR_ENVIRONMENT where a plugin cannot be used or finds no
 * device. */
TENON_EXPORT tenon_status tenon_context_create(const tenon_context_options* options,
                                               tenon_context** out);
/* Its devices are closed when the tensors and graphs that were made of it are destroyed too. */
TENON_EXPORT void tenon_context_destroy(tenon_context* context);

#define TENON_DEVICE_COMPUTE 1u /* else it holds memory, as a disk does, and runs nothing */
#define TENON_DEVICE_OPEN 2u    /* as after tenon_device_find */

/* Set `size` to sizeof(tenon_device) before the call. Texts end with a zero byte. */
typedef struct tenon_device {
  uint32_t size;
  uint32_t flags;
  char id[256];   /* what names it: "cpu:0" */
  char name[256]; /* in the vendor's words */
  uint64_t bytes_in_use;
  uint64_t bytes_reserved; /* held from the driver, for tensors to come too */
} tenon_device;

/* How many devices there are: those that are open, the default first, then others that may be
 * named. */
TENON_EXPORT tenon_status tenon_device_count(tenon_context* context, uint64_t* out);
/* The id of one of them, from 0 on; `capacity` bytes at `out`, with the zero byte. */
TENON_EXPORT tenon_status tenon_device_id(tenon_context* context, uint64_t number, char* out,
                                          uint64_t capacity);
/* `id` as "cpu" or "vulkan:1"; null or "" is the default. It is opened if it is not open. */
TENON_EXPORT tenon_status tenon_device_find(tenon_context* context, const char* id,
                                            tenon_device* out);

/* ---- Tensors --------------------------------------------------------------------------------- */

#define TENON_MAX_RANK 16

/* Set `size` to sizeof(tenon_type) before the call. */
typedef struct tenon_type {
  uint32_t size;
  tenon_dtype dtype;
  uint32_t rank;
  uint32_t reserved;
  uint64_t bytes; /* of all elements, row by row without gaps; 0 where a size is a symbol */
  int64_t shape[TENON_MAX_RANK]; /* -1: a symbol, whose value is told when the graph runs */
} tenon_type;

/* A copy of `bytes` bytes, row by row, on the default device. `shape` may be null for rank 0,
 * `data` for 0 bytes. */
TENON_EXPORT tenon_status tenon_tensor_create(tenon_context* context, tenon_dtype dtype,
                                              uint32_t rank, const int64_t* shape, const void* data,
                                              uint64_t bytes, tenon_tensor** out);
TENON_EXPORT void tenon_tensor_destroy(tenon_tensor* tensor);
TENON_EXPORT tenon_status tenon_tensor_type(const tenon_tensor* tensor, tenon_type* out);
/* Waits for what computes it, and copies all elements, row by row: exactly `bytes` bytes. */
TENON_EXPORT tenon_status tenon_tensor_read(const tenon_tensor* tensor, void* out, uint64_t bytes);
/* On another device; the same tensor once more if it is there. */
TENON_EXPORT tenon_status tenon_tensor_to_device(const tenon_tensor* tensor, const char* id,
                                                 tenon_tensor** out);
/* The id of its device; `capacity` bytes at `out`, with the zero byte. */
TENON_EXPORT tenon_status tenon_tensor_device(const tenon_tensor* tensor, char* out,
                                              uint64_t capacity);
/* As NumPy prints it. `*length` becomes the bytes of the whole text, without the zero byte, of
 * which `capacity` - 1 are written, with a zero byte after them. */
TENON_EXPORT tenon_status tenon_tensor_text(const tenon_tensor* tensor, char* out,
                                            uint64_t capacity, uint64_t* length);

/* Arrays of DLPack 1.x and of 0.x, by its header: https://dmlc.github.io/dlpack */
struct DLManagedTensorVersioned;
struct DLManagedTensor;

/* Where the memory has to be copied, or that is refused, or always. */
#define TENON_COPY_IF_NEEDED 0u
#define TENON_COPY_NEVER 1u
#define TENON_COPY_ALWAYS 2u

/* An array of the host as a tensor on the default device, which takes `from` over and calls its
 * deleter once, on any thread, when nothing needs the memory any more; after an error the caller
 * has it still. The deleter may call Tenon. It is not called in a child of fork, nor where the
 * process ends first. Memory that is shared must not be written meanwhile. It is shared where the
 * device imports memory of the host, as cpu does, and the array has no gaps. `copy`: TENON_COPY_.
 */
TENON_EXPORT tenon_status tenon_tensor_from_dlpack(tenon_context* context,
                                                   struct DLManagedTensorVersioned* from,
                                                   uint32_t copy, tenon_tensor** out);
TENON_EXPORT tenon_status tenon_tensor_from_unversioned_dlpack(tenon_context* context,
                                                               struct DLManagedTensor* from,
                                                               uint32_t copy, tenon_tensor** out);
/* The tensor as an array of the host: its memory, only to be read, as the flag says, or a copy that
 * may be written. Who takes it over calls the deleter. TENON_COPY_NEVER is
 * TENON_ERROR_UNSUPPORTED on a device whose memory the host does not see. */
TENON_EXPORT tenon_status tenon_tensor_to_dlpack(const tenon_tensor* tensor, uint32_t copy,
                                                 struct DLManagedTensorVersioned** out);
/* Always a copy, as who takes it may write. */
TENON_EXPORT tenon_status tenon_tensor_to_unversioned_dlpack(const tenon_tensor* tensor,
                                                             struct DLManagedTensor** out);

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* `origin` is what messages call the text, as "softmax.tn"; null is "<text>". Messages name line
 * and column. */
TENON_EXPORT tenon_status tenon_graph_parse(tenon_context* context, const char* text,
                                            const char* origin, tenon_graph** out);
TENON_EXPORT void tenon_graph_destroy(tenon_graph* graph);
/* The text, which parses to the same graph; lengths as of tenon_tensor_text. */
TENON_EXPORT tenon_status tenon_graph_text(const tenon_graph* graph, char* out, uint64_t capacity,
                                           uint64_t* length);

TENON_EXPORT tenon_status tenon_graph_counts(const tenon_graph* graph, uint64_t* inputs,
                                             uint64_t* outputs);
/* Type and name of an input or output, from 0 on. Both results may be null; the name lives as long
 * as the graph, and is "" for an output that has none. */
TENON_EXPORT tenon_status tenon_graph_input(const tenon_graph* graph, uint64_t number,
                                            tenon_type* type, const char** name);
TENON_EXPORT tenon_status tenon_graph_output(const tenon_graph* graph, uint64_t number,
                                             tenon_type* type, const char** name);

/* The graph that gives `output` (null: the first) and its gradient by some of the inputs. An
 * output of several elements has a seed, d_OUTPUT, as one input more. */
TENON_EXPORT tenon_status tenon_graph_gradient(const tenon_graph* graph, const char* output,
                                               const char* const* inputs, uint64_t count,
                                               tenon_graph** out);

/* The value of a symbol that no input has as a size by itself. */
typedef struct tenon_symbol {
  const char* name;
  int64_t value;
} tenon_symbol;

/* Set `size` to sizeof(tenon_run_options) and all else to 0 for the defaults. */
typedef struct tenon_run_options {
  uint32_t size;
  uint32_t symbol_count;
  const tenon_symbol* symbols;
  /* Of each input 1 if its memory may be written over, else 0; null: of none. Such a tensor is
   * spent: any use of it but its destruction is an error. So is the run, which spends none, if
   * something else needs one, a call of another thread too. */
  const uint8_t* donated;
} tenon_run_options;

/* Compiles the plan for inputs of these types and devices, which a run would otherwise do. */
TENON_EXPORT tenon_status tenon_graph_compile(const tenon_graph* graph, tenon_tensor* const* inputs,
                                              uint64_t input_count,
                                              const tenon_run_options* options);
/* Runs it on the device of its inputs (where they differ, each op on that of its first operand
 * which has one), on the default where it has none. All of its outputs, `output_count` tensors, are
 * written to `outputs`. Returns when the work is submitted; reading waits. Equal graphs share a
 * plan, whatever the values of symbols. */
TENON_EXPORT tenon_status tenon_graph_run(const tenon_graph* graph, tenon_tensor* const* inputs,
                                          uint64_t input_count, const tenon_run_options* options,
                                          tenon_tensor** outputs, uint64_t output_count);

#ifdef __cplusplus
}
#endif
#endif
