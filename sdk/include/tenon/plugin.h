/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The Tenon plugin ABI: all that a backend author needs.
 *
 * A backend is a shared library `libtenon_<backend>.so` that exports one symbol, tn_plugin_query,
 * and returns a table of functions. docs/abi.md numbers the rules; the comments here state who owns
 * what, how long it lives, and which thread may call.
 *
 * Growth. Structs begin with TN_HEADER (the writer's size, a chain of extensions), but for the rows
 * tn_dtype_caps, tn_argument and tn_point. They only grow at the end; bytes past the writer's size
 * read as zero: "as before". Arrays have a stride, but for tn_point. Enum values never change.
 *
 * Errors. Functions return TN_OK or an error code, and write a sentence into the caller's
 * tn_error when it is not null. A code that a reader does not know reads as TN_ERROR_INTERNAL. No
 * exception, abort, exit or long jump crosses the boundary. After an error no out_ value has been
 * written and nothing is held, so that after TN_ERROR_OUT_OF_MEMORY the caller can free and retry.
 *
 * Ownership. What a plugin makes, the plugin destroys through its own function. Strings and arrays
 * passed in live until the call returns, those handed out as long as the object they describe. The
 * process stays as it was: signals, locale, directory, rounding, standard output (abi.md 39).
 *
 * Threads. Functions may be called from any thread, several at once: on different objects, to make
 * objects of one device, for one timeline (abi.md 19). Nobody destroys an object that is in use.
 */
#ifndef TENON_PLUGIN_H
#define TENON_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TN_ABI_VERSION 1u /* the newest version that this header describes */

#if defined(_WIN32)
#define TN_EXPORT __declspec(dllexport)
#else
#define TN_EXPORT __attribute__((visibility("default")))
#endif

/* ---- Header of every struct ------------------------------------------------------------- */

/* One extension struct in a chain. `id` is a reverse-DNS name, as "org.tenon.graphs.v1". */
typedef struct tn_chain {
  uint32_t struct_size;
  uint32_t reserved;
  const struct tn_chain* next;
  const char* id;
} tn_chain;

#define TN_HEADER       \
  uint32_t struct_size; \
  uint32_t reserved;    \
  const tn_chain* next

/* Initialiser: tn_submission s = TN_INIT(tn_submission); all else is zero. */
#ifdef __cplusplus
extern "C++" {
template <class T>
constexpr T tn_init() {
  T value{};
  value.struct_size = static_cast<uint32_t>(sizeof(T));
  return value;
}
}
#define TN_INIT(type) (tn_init<type>())
#else
#define TN_INIT(type) \
  { .struct_size = (uint32_t)sizeof(type) }
#endif

/* ---- Errors ----------------------------------------------------------------------------- */

typedef enum tn_status {
  TN_OK = 0,
  TN_ERROR_INTERNAL = 1,
  TN_ERROR_INVALID_ARGUMENT = 2,
  TN_ERROR_OUT_OF_MEMORY = 3,
  TN_ERROR_UNSUPPORTED = 4,
  TN_ERROR_COMPILE_FAILED = 5,
  TN_ERROR_DEVICE_LOST = 6, /* sticky: every later call on the device answers the same */
  TN_ERROR_TIMEOUT = 7,
  TN_ERROR_NOT_FOUND = 8, /* the driver, a file, a named target */
  TN_ERROR_IO = 9,
  TN_ERROR_INCOMPATIBLE = 10 /* a saved executable of another device or build */
} tn_status;

/* Caller-owned. Callee writes code and message, never more than struct_size bytes. */
typedef struct tn_error {
  TN_HEADER;
  int32_t code; /* tn_status */
  int32_t vendor_code;
  char message[512]; /* UTF-8, NUL-terminated */
} tn_error;

/* ---- Objects: made, owned and destroyed by the plugin ------------------------------------ */

typedef struct tn_device tn_device;
typedef struct tn_memory tn_memory; /* a slab: one allocation in one memory space */
typedef struct tn_executable tn_executable;
typedef struct tn_timeline tn_timeline; /* a monotonic u64 counter, or a failure */

/* ---- The host's side --------------------------------------------------------------------- */

typedef enum tn_log_level {
  TN_LOG_ERROR = 1,
  TN_LOG_WARNING = 2,
  TN_LOG_INFO = 3,
  TN_LOG_DEBUG = 4
} tn_log_level;

/* Lives as long as the process. Any function may be null; all may be called from any thread. */
typedef struct tn_host {
  TN_HEADER;
  uint32_t abi_version; /* the host's newest */
  uint32_t reserved1;
  const char* name; /* as "tenon 0.1.0" */
  void* user;       /* first argument of each callback */
  void (*log)(void* user, int32_t level, const char* message);
  void* (*allocate)(void* user, size_t size, size_t alignment); /* null when out of memory */
  void (*release)(void* user, void* pointer, size_t size, size_t alignment);
  void (*trace)(void* user, const char* name, uint64_t begin_ns, uint64_t end_ns);
} tn_host;

/* ---- What a device can do ---------------------------------------------------------------- */

typedef enum tn_device_kind {
  TN_DEVICE_CPU = 1,
  TN_DEVICE_GPU = 2,
  TN_DEVICE_ACCELERATOR = 3,
  TN_DEVICE_STORAGE = 4 /* memory only */
} tn_device_kind;

/* One enumerated device. Index in the enumeration is its number for device_open. */
typedef struct tn_device_info {
  TN_HEADER;
  uint32_t kind; /* tn_device_kind */
  uint32_t reserved1;
  char name[128];
  uint8_t uuid[16]; /* the same on every run; zero if there is none */
  char driver[64];  /* driver name and version; part of cache keys */
  char target[64];  /* what code is compiled for: "x86-64/znver5", "sm_90a"; part of cache keys */
} tn_device_info;

/* tn_dtype_caps.flags */
#define TN_DTYPE_STORAGE 1u    /* TAKE, STORE and CAST from and to it */
#define TN_DTYPE_ARITHMETIC 2u /* every elementwise op of the op table on it */
#define TN_DTYPE_ATOMICS 4u    /* every tn_atomic on it, where ATOMIC is claimed */

typedef struct tn_dtype_caps {
  uint32_t dtype; /* tn_dtype */
  uint32_t flags;
  uint32_t vector_lanes; /* preferred, not the most; 1 if there are no vectors */
  uint32_t rate;         /* measured multiply-adds relative to f32 = 256; 0 if unknown */
} tn_dtype_caps;

/* tn_memory_space.flags */
#define TN_MEMORY_DEVICE 1u       /* launches bind it: kernels reach it at full speed */
#define TN_MEMORY_HOST_VISIBLE 2u /* can be mapped */
#define TN_MEMORY_COHERENT 4u     /* map and unmap need no flush */
#define TN_MEMORY_IMPORT 8u       /* memory_import takes host pointers */
/* Pointers of memory_map stay good until memory_free, whatever is unmapped, and while submissions
 * run; they show what a submission wrote once it has ended. */
#define TN_MEMORY_PERSISTENT 16u

typedef struct tn_memory_space {
  TN_HEADER;
  uint32_t flags;
  uint32_t alignment; /* bytes, of every offset that a launch binds */
  uint64_t total;     /* bytes; 0 if unknown */
  uint64_t largest;   /* bytes of one allocation; 0 for no limit */
  uint32_t copy_from; /* bit s: submit copies from space s to this one, its own bit too */
  uint32_t reserved1;
  /* As `alignment`, of the offsets that are bound to params that a program only reads, as of
   * imported memory: a power of two up to `alignment`; 0: `alignment`. */
  uint32_t read_alignment;
  uint32_t reserved2;
} tn_memory_space;

/* tn_properties.flags */
#define TN_DEVICE_COMPUTE 1u       /* compile and submit of launches */
#define TN_DEVICE_ASYNC 2u         /* submit returns at once; the timeline functions are there */
#define TN_DEVICE_DETERMINISTIC 4u /* the same program and bytes give the same bytes */
#define TN_DEVICE_SYMBOLIC 8u      /* SCALAR params and loop bounds that depend on them */
#define TN_DEVICE_SAVE 16u         /* executable_save and executable_load */
#define TN_DEVICE_SOFTWARE 32u     /* threads of a workgroup are lanes of the host's processor */
#define TN_DEVICE_SUBGROUP_BARRIER 64u /* BARRIER of TN_SCOPE_SUBGROUP, too */

/* Strict: f32 as rounded, exp2 and log2 to 3 ULP, sin to 4. Relaxed: division to 2.5 ULP, roots to
 * 4.5, exp2 to 3 + 2 |x|, log2 to 3, sin to 2^-11. abi.md, Accuracy, has all of it. */
typedef enum tn_accuracy { TN_ACCURACY_STRICT = 1, TN_ACCURACY_RELAXED = 2 } tn_accuracy;

/* tn_properties.numerics: what the device does otherwise than ops.def pins */
#define TN_NUMERICS_FLUSH_INPUT 1u  /* subnormal operands may read as zero */
#define TN_NUMERICS_FLUSH_OUTPUT 2u /* subnormal results may become zero */
#define TN_NUMERICS_NO_NAN 4u       /* NaN operands give unspecified results */
#define TN_NUMERICS_NO_INF 8u
#define TN_NUMERICS_NO_SIGNED_ZERO 16u
#define TN_NUMERICS_CONTRACT 32u /* multiplies and adds may fuse anywhere */

/* tn_matrix_atom.numerics: what the matrix unit does otherwise than products and sums in the
 * accumulator's dtype, each rounded to nearest. The core uses an atom that flushes only where the
 * device declares both TN_NUMERICS_FLUSH_ bits, or the author of the graph asked for it; one with
 * reduced operands only where the author asked for it. */
#define TN_ATOM_FLUSHES_SUBNORMALS 1u /* subnormal operands and results may become zero */
#define TN_ATOM_REDUCED_OPERANDS 2u   /* operands are rounded to fewer bits first, as f32 to tf32 */
#define TN_ATOM_TRUNCATES 4u          /* its sums may be cut, not rounded: an ULP each, not half */

/* tn_matrix_atom: where a bit of an element's row or column is. */
#define TN_BIT_OF_LANE 64u    /* | i: bit i of the lane */
#define TN_BIT_OF_THREAD 128u /* | i: bit i of the thread's number in the subgroup */

/* Matrix-multiply atom: one d = a*b + c that the threads of a subgroup do together. Which elements
 * a thread holds is the device's affair, which may say it: then programs may take fragments to
 * pieces and put them together. See program.h.
 * One of TN_SCOPE_BLOCK is done by several subgroups that follow one another, whose threads
 * together a program that uses it calls its subgroup; its operands are tiles in shared memory in
 * lines (TN_MATRIX_LINES), of which a and b hold no more than where they are.
 * One of TN_SCOPE_THREAD says what DOT takes: m = n = 1, k neighbours, in any number of lanes; its
 * id and its lanes say nothing, and the core uses one that flushes where a graph does not ask for
 * exact products (docs/ir.md). */
typedef struct tn_matrix_atom {
  TN_HEADER;
  uint32_t id;
  uint32_t m, n, k;
  uint32_t a_dtype, b_dtype, accumulator_dtype;
  uint32_t scope;                     /* tn_scope */
  uint32_t a_lanes, b_lanes, c_lanes; /* elements that one thread holds of each operand */
  uint32_t subgroup;                  /* threads that do it together */
  uint32_t numerics;                  /* TN_ATOM_ bits */
  uint32_t reserved1;
  /* Where the bits of an element's row (from [0] on) and column (from [8] on) are, TN_BIT_OF_; 0
   * where there are no more. All 0: not said. */
  uint8_t a_layout[16], b_layout[16], c_layout[16];
} tn_matrix_atom;

/* What a device gets through and what it holds: for budgets, which say what a kernel may cost
 * before anything runs. Nothing that is computed depends on it. 0: unknown. */
typedef struct tn_rates {
  TN_HEADER;
  uint32_t clock_mhz;      /* of the compute units, under load */
  uint32_t memory_mbps;    /* 10^6 bytes a second that a copy reads and writes together */
  uint32_t cache_bytes;    /* a clock, from and to the cache that all units share */
  uint32_t memory_latency; /* clocks */
  uint32_t shared_latency;
  /* Of one compute unit, a clock. A multiply-add is one. */
  uint32_t issues;       /* instructions of a subgroup */
  uint32_t floats;       /* f32 */
  uint32_t doubles;      /* f64 */
  uint32_t integers;     /* 32 bits */
  uint32_t specials;     /* roots, powers, logarithms, angles, of f32 */
  uint32_t local_bytes;  /* from and to global memory, through the unit's own cache */
  uint32_t shared_banks; /* of 4 bytes */
  uint32_t products_8;   /* multiply-adds of matrix atoms, by the bits of an operand */
  uint32_t products_16;
  uint32_t products_32;
  uint32_t products_64;
  uint32_t peak_products_16; /* of the matrix units, whatever instruction it takes */
  /* What one compute unit holds at once. */
  uint32_t registers; /* of 32 bits */
  uint32_t threads;
  uint32_t workgroups;
  uint32_t shared_bytes;
  uint32_t reserved1;
} tn_rates;

/* Capabilities of an open device or of a named target. Owned by the plugin; valid until the device
 * is closed, and until the process ends for a named target. */
typedef struct tn_properties {
  TN_HEADER;
  uint32_t flags;
  uint32_t accuracy; /* tn_accuracy */
  uint32_t numerics;
  uint32_t index_bits;    /* 32 or 64: widest integer for addresses and loops */
  uint64_t native_ops[8]; /* bit (code & 63) of word (code >> 6): the HINT op is claimed */
  uint32_t dtype_count;
  uint32_t dtype_stride;
  const tn_dtype_caps* dtypes;
  uint32_t memory_space_count;
  uint32_t memory_space_stride;
  const tn_memory_space* memory_spaces; /* [0] is where buffers go by default */
  /* Limits of one launch. The core never exceeds one; 0 is no limit, but for max_shared_bytes. */
  uint32_t max_workgroup[3];
  uint32_t max_workgroup_threads;
  uint32_t max_grid[3];
  uint32_t max_bindings;     /* buffers; scalars do not count */
  uint64_t max_buffer_bytes; /* of one binding */
  uint32_t max_shared_bytes; /* 0: no shared memory */
  uint32_t max_scratch_bytes;
  uint32_t subgroup_min, subgroup_max; /* 0: no subgroups */
  /* What the rules of the core use to choose tiles. 0: unknown. */
  uint32_t compute_units;    /* cores, multiprocessors */
  uint32_t vector_bytes;     /* bytes of a SIMD register; 0 for scalar threads */
  uint32_t vector_registers; /* registers of that size, or 32-bit registers a thread */
  uint32_t reserved1;
  uint64_t l1_bytes, l2_bytes, l3_bytes;
  uint32_t matrix_atom_count;
  uint32_t matrix_atom_stride;
  const tn_matrix_atom* matrix_atoms;
  uint64_t reserved2[8];
  /* Narrowest element that programs may declare in global and shared memory, in bytes; 0 or 1: any.
   * With 4 the core keeps narrower dtypes packed, little-endian, in 32-bit words; then stores need
   * TN_DTYPE_ATOMICS on u32. Buffers are bound in whole words. */
  uint32_t storage_bytes;
  /* Iterations of all loops of one thread together, the last look at a loop's end being one: a loop
   * of n in one of m takes m * (n + 2) + 1. A limit of one launch, as those above; 0: none. */
  uint32_t max_loop_trips;
  const tn_rates* rates; /* null: unknown */
} tn_properties;

/* ---- Compilation ------------------------------------------------------------------------- */

/* What to compile for: an open device, or (device null) a target by name that need not be there. */
typedef struct tn_target {
  TN_HEADER;
  tn_device* device;
  const char* name;
} tn_target;

typedef enum tn_support { TN_SUPPORT_NO = 0, TN_SUPPORT_YES = 1, TN_SUPPORT_SLOW = 2 } tn_support;

/* Caller-owned, filled by compile. 0: unknown. */
typedef struct tn_compile_report {
  TN_HEADER;
  uint64_t binary_bytes;
  uint32_t registers, spills;
  uint32_t shared_bytes;
  uint32_t reserved1;
  uint64_t compile_ns;
} tn_compile_report;

/* What executable_text can give: tn_text_kind. */
typedef enum tn_text_kind { TN_TEXT_SOURCE = 1, TN_TEXT_ASSEMBLY = 2 } tn_text_kind;

/* Receives bytes in one or more calls, in order, during the call it is passed to. */
typedef void (*tn_sink)(void* user, const void* bytes, size_t size);

/* ---- Submission -------------------------------------------------------------------------- */

typedef enum tn_argument_kind {
  TN_ARGUMENT_BUFFER = 1,
  TN_ARGUMENT_SCALAR = 2,
  TN_ARGUMENT_TENSOR_MAP = 3 /* reserved */
} tn_argument_kind;

/* One for each BUFFER and SCALAR param of the program, in the order of tn_param[]. */
typedef struct tn_argument {
  uint32_t kind; /* tn_argument_kind */
  uint32_t reserved;
  tn_memory* memory; /* BUFFER; null only if size is 0 */
  uint64_t offset;   /* bytes */
  uint64_t size;     /* bytes bound; >= count * element size of the param */
  uint64_t scalar;   /* SCALAR: the bits of the value, zero-extended */
} tn_argument;

typedef enum tn_command_kind {
  TN_COMMAND_LAUNCH = 1,
  TN_COMMAND_COPY = 2, /* between slabs of one device; never overlapping */
  TN_COMMAND_FILL = 3  /* repeats the low pattern_size bytes of pattern */
} tn_command_kind;

typedef struct tn_command {
  TN_HEADER;
  uint32_t kind; /* tn_command_kind */
  uint32_t reserved1;
  /* LAUNCH. A grid with a zero runs nothing. */
  tn_executable* executable;
  uint32_t grid[3];    /* workgroups */
  uint32_t block[3];   /* threads; equals the program's workgroup */
  uint32_t cluster[3]; /* 1 where unused */
  uint32_t dynamic_shared_bytes;
  uint32_t argument_count;
  uint32_t argument_stride;
  const tn_argument* arguments;
  /* COPY and FILL */
  tn_memory* destination;
  uint64_t destination_offset;
  tn_memory* source;
  uint64_t source_offset;
  uint64_t size; /* bytes; for FILL a multiple of pattern_size */
  uint64_t pattern;
  uint32_t pattern_size; /* 1, 2, 4 or 8 */
  uint32_t reserved2;
} tn_command;

typedef struct tn_point {
  tn_timeline* timeline;
  uint64_t value;
} tn_point;

/* Commands run as if in order. They start when every wait is reached, and each signal is raised
 * when they end. If one fails, or a wait has failed, the signals' timelines fail with that error.
 */
typedef struct tn_submission {
  TN_HEADER;
  uint32_t queue; /* 0 is always there; the core uses no other */
  uint32_t command_count;
  uint32_t command_stride;
  uint32_t wait_count;
  const tn_command* commands;
  const tn_point* waits;
  const tn_point* signals;
  uint32_t signal_count;
  uint32_t reserved1;
} tn_submission;

/* ---- The plugin's table ------------------------------------------------------------------ */

/* Static, constant, lives as long as the process; plugins are never unloaded. A function marked
 * [compute] may be null for a memory-only backend, [async] without TN_DEVICE_ASYNC,
 * [save] without TN_DEVICE_SAVE, [optional] always. All others are mandatory. */
typedef struct tn_plugin {
  TN_HEADER;
  uint32_t abi_version;              /* the version it speaks, inside the range it was asked for */
  uint32_t program_min, program_max; /* program format versions it takes */
  int32_t priority;    /* among devices of one kind the higher comes first; 0 is usual */
  const char* backend; /* lower case letters, digits and _, as in the file name */
  const char* version; /* of this build; part of cache keys */
  const char* license;

  /* Writes at most `capacity` infos, spaced by `stride` bytes, each with its struct_size set by the
   * caller, and the whole number of devices. No driver or no device is TN_OK with *out_count = 0;
   * then `reason` of `reason_capacity` bytes, if not null, gets the sentence that says why. Order
   * is the same on every call. First call that may touch the driver. */
  int32_t (*device_enumerate)(uint32_t capacity, uint32_t stride, tn_device_info* infos,
                              uint32_t reason_capacity, char* reason, uint32_t* out_count,
                              tn_error* error);
  /* `options` is "key=value,key=value" from the selector (as "threads=2"), or null; a key that is
   * not known is TN_ERROR_INVALID_ARGUMENT. In a value %2C is a comma, and so on: % and two
   * hexadecimal digits. A device may be open several times; an unknown index is refused. */
  int32_t (*device_open)(uint32_t index, const char* options, tn_device** out_device,
                         tn_error* error);
  /* All objects of the device are destroyed before. */
  void (*device_close)(tn_device* device);
  /* For target.device null: capabilities of the named target, TN_ERROR_NOT_FOUND if there is none.
   */
  int32_t (*properties)(const tn_target* target, const tn_properties** out_properties,
                        tn_error* error);

  /* A slab, also as mapped aligned to the space's alignment; contents undefined. `size` > 0. */
  int32_t (*memory_allocate)(tn_device* device, uint32_t space, uint64_t size,
                             tn_memory** out_memory, tn_error* error);
  void (*memory_free)(tn_memory* memory);
  /* Host pointer to a range of a host-visible slab; one map of a slab at a time; no submission
   * that touches the range runs meanwhile. Unmap makes the host's writes visible. */
  int32_t (*memory_map)(tn_memory* memory, uint64_t offset, uint64_t size, void** out_pointer,
                        tn_error* error);
  int32_t (*memory_unmap)(tn_memory* memory, tn_error* error);

  /* [compute] Answers at once and without side effect whether `compile` would succeed; `reason`
   * of `capacity` bytes, if not null, gets a sentence when the answer is not YES. */
  int32_t (*supports)(const tn_target* target, const tn_program* program, uint32_t capacity,
                      char* reason);
  /* [compute] Needs no free device; any number of threads at once. `report` may be null.
   * The executable outlives the program, and can be launched only if target.device was given. */
  int32_t (*compile)(const tn_target* target, const tn_program* program, tn_compile_report* report,
                     tn_executable** out_executable, tn_error* error);
  void (*executable_destroy)(tn_executable* executable);
  /* [optional] Source or assembly for people to read; TN_ERROR_UNSUPPORTED if there is none. */
  int32_t (*executable_text)(tn_executable* executable, uint32_t kind, tn_sink sink, void* user,
                             tn_error* error);
  /* [save] Bytes that executable_load of the same build takes, for the same target. Load verifies
   * them and answers TN_ERROR_INCOMPATIBLE for bytes not its own, damaged, fewer or more. */
  int32_t (*executable_save)(tn_executable* executable, tn_sink sink, void* user, tn_error* error);
  int32_t (*executable_load)(const tn_target* target, const void* bytes, size_t size,
                             tn_executable** out_executable, tn_error* error);

  /* Everything the submission points to is read before the call returns, but for the objects.
   * Without TN_DEVICE_ASYNC: no waits or signals, one call at a time a device, and the work is done
   * when it returns. An error submits nothing: the signals' timelines stay as they were. */
  int32_t (*submit)(tn_device* device, const tn_submission* submission, tn_error* error);

  /* [async] A timeline starts at `value`. */
  int32_t (*timeline_create)(tn_device* device, uint64_t value, tn_timeline** out_timeline,
                             tn_error* error);
  void (*timeline_destroy)(tn_timeline* timeline);
  /* Blocks until the value is reached, the timeline fails (its error), or TN_ERROR_TIMEOUT.
   * UINT64_MAX waits for ever. What was reached before a failure stays reached. */
  int32_t (*timeline_wait)(tn_timeline* timeline, uint64_t value, uint64_t timeout_ns,
                           tn_error* error);
  int32_t (*timeline_query)(tn_timeline* timeline, uint64_t* out_value, tn_error* error);
  /* Raised by the host. A lower or equal value, or a failed timeline: nothing happens, TN_OK. */
  int32_t (*timeline_signal)(tn_timeline* timeline, uint64_t value, tn_error* error);

  /* [optional] Host memory as a slab: from a multiple of 4096 on, any length; until memory_free. */
  int32_t (*memory_import)(tn_device* device, uint32_t space, void* pointer, uint64_t size,
                           tn_memory** out_memory, tn_error* error);
  /* [optional] A table of functions by reverse-DNS id, null if it is not known. */
  const void* (*get_extension)(const char* id);
} tn_plugin;

/* The one exported symbol. Pure: no driver call, no thread, nothing allocated that outlives it.
 * Chooses the highest version that both sides speak from [abi_min, abi_max], or answers null with
 * TN_ERROR_INCOMPATIBLE and the range it would have taken. */
#define TN_PLUGIN_QUERY "tn_plugin_query"
typedef const tn_plugin* (*tn_plugin_query_fn)(const tn_host* host, uint32_t abi_min,
                                               uint32_t abi_max, tn_error* error);
TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                           tn_error* error);

#ifdef __cplusplus
}
#endif
#endif
