/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The program: one lowered kernel, as it crosses the plugin ABI.
 *
 * A program is one contiguous block of memory, 16-byte aligned, little-endian, read-only and free
 * of pointers: every reference is a byte offset from its first byte, so it can be hashed, written
 * to a file and sent to another process as it is. The core verifies it before it hands it over; a
 * plugin may trust it, and may verify it again with the sdk's helpers.
 *
 *   tn_program   header
 *   tn_param[]   what the launch binds and what the kernel allocates
 *   tn_op[]      values in static single assignment order; op number i defines value i
 *   uint32_t[]   operands: value numbers
 *   data         strings (NUL-terminated) and attribute bytes
 *
 * Regions. LOOP and IF open a region, END closes it; they nest. A value is visible from its op to
 * the end of the region that holds it, except that a CARRY stays visible after its loop's END and
 * then is the value that left the loop. A LOOP runs its variable i = begin; i < end; i += step,
 * tested before each iteration, step > 0, and i + step fits its dtype. CARRY ops stand directly
 * after their LOOP, one for each initial value, in order, with it as operand. A tn_param has one
 * PARAM, and these stand in the order of tn_param[].
 *
 * Threads. The launch runs grid x workgroup threads; INDEX reads a thread's coordinates. Without a
 * BARRIER nothing is promised about their order. A BARRIER is met by all threads of its scope or
 * none: the conditions of the IFs around it, and the bounds and WHILE conditions of the LOOPs, are
 * equal in all of them, and such that the verifier can tell. Equal are CONSTs, SCALARs, grid
 * indices and what is computed of equal values alone; loads with an equal index, but from memory of
 * the thread's own or that an ATOMIC changes; a CARRY, if all that it becomes is and all threads
 * leave its LOOP in the same iteration. Numbers that differ in low bits alone, as those of a
 * subgroup's threads do, are equal once these are divided away, or beside a multiple of their power
 * of two.
 *
 * Vectors. `lanes` > 1 makes a value a short vector. Elementwise ops work lane by lane; all their
 * operands have equal lanes. TAKE and STORE with a scalar index touch `lanes` consecutive elements,
 * with a vector index one element a lane. A scalar mask guards all lanes, a vector mask each.
 * A masked-off lane does not touch memory, and a masked-off load gives the fill value.
 *
 * Subgroups. Threads of a workgroup whose number (x fastest) divided by the subgroup's size is
 * equal work in step. SUBGROUP_SHUFFLE, _REDUCE and _BROADCAST are met by all of them or none, as
 * a BARRIER is, and give each its value; so are MATRIX ops. A program that uses them or a matrix
 * atom states subgroup_size; the core's are parts of rows (workgroup[0] is a multiple), and others
 * may be refused. What _REDUCE and _BROADCAST give is equal in the subgroup.
 *
 * Matrix fragments are values with the atom's a_, b_ or c_lanes. Besides the MATRIX ops elementwise
 * ops with equal lanes of fragments of one role, constants and broadcasts apply; where the atom
 * says which element is in which lane of which thread (tn_matrix_atom), so do EXTRACT, and COMPOSE
 * in a fragment's place. Operands of MATRIX ops but fragments are equal in the
 * whole subgroup. MATRIX_LOAD reads element (r, c) at index + r * stride + c, or index + c * stride
 * + r if TN_MATRIX_TRANSPOSED; r and c run over m x k (A), k x n (B) or m x n (C). With
 * TN_MATRIX_LINES rows are cut into lines of p elements, 128 bytes, and lines of one column stand
 * together: element (r, c) has the number index + c / p * stride + r * p + c % p, or with r and c
 * in each other's place, and element number e lies where e leads with its bits for 16, 32 and 64
 * bytes xored with those for 128, 256 and 512. Such memory is aligned to 1024 bytes, index leads to
 * 16 whole bytes in a line whose number is a multiple of 8, and stride is a multiple of 8 lines.
 * Other ops reach what lies where their index leads. An atom of TN_SCOPE_BLOCK takes its operands
 * from shared memory in lines, when it is multiplied: until then, and up to the next BARRIER,
 * nothing is written there. An ASYNC_COPY may be done at once; it has arrived after an ASYNC_WAIT
 * that covers its group and, for other threads, a barrier.
 *
 * Numbers. As pinned in ops.def: rounding to nearest even, no contraction of multiply and add
 * unless the op carries TN_OP_CONTRACT.
 */
#ifndef TENON_PROGRAM_H
#define TENON_PROGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TN_PROGRAM_MAGIC 0x504E4E54u /* "TNNP" in memory */
#define TN_PROGRAM_VERSION 1u        /* of the format below; grows by appending */

/* Data types, from dtypes.def. Codes are never renumbered; 0x80 to 0xFF belong to vendors. */
typedef enum tn_dtype {
  TN_DTYPE_VOID = 0,
#define TN_DTYPE(name, code, ...) TN_DTYPE_##name = code,
#include "tenon/dtypes.def"
} tn_dtype;

/* Operator codes, from ops.def. Stored as uint16_t. */
typedef enum tn_opcode {
  TN_OP_INVALID = 0,
#define TN_OP(name, code, text, arity, kind, types, level, flags, meaning) TN_OP_##name = code,
#include "tenon/ops.def"
  TN_OP_VENDOR = 0x8000
} tn_opcode;

/* Where a parameter lives. */
typedef enum tn_space {
  TN_SPACE_GLOBAL = 1,
  TN_SPACE_CONSTANT = 2, /* read-only global */
  TN_SPACE_SHARED = 3,   /* one copy a workgroup */
  TN_SPACE_REGISTER = 4, /* one copy a thread, small, constant indices preferred */
  TN_SPACE_SCRATCH = 5,  /* one copy a thread, in memory */
  TN_SPACE_FRAGMENT = 6, /* matrix fragments, spread over a subgroup */
  TN_SPACE_CLUSTER = 7   /* reserved: shared by a cluster of workgroups */
} tn_space;

typedef enum tn_param_kind {
  TN_PARAM_BUFFER = 1, /* bound at launch: memory */
  TN_PARAM_SCALAR = 2, /* bound at launch: one value of `dtype` */
  TN_PARAM_ALLOC = 3   /* allocated by the kernel in `space`: `count` elements, uninitialised */
} tn_param_kind;

/* tn_param.access */
#define TN_ACCESS_READ 1u
#define TN_ACCESS_WRITE 2u
#define TN_ACCESS_NOALIAS 4u /* no other buffer of the launch overlaps it */

typedef struct tn_param {
  uint32_t kind;   /* tn_param_kind */
  uint32_t dtype;  /* tn_dtype of the elements */
  uint32_t space;  /* tn_space; GLOBAL or CONSTANT for BUFFER, CONSTANT for SCALAR */
  uint32_t access; /* TN_ACCESS_ bits */
  uint64_t
      count; /* elements: exact for ALLOC; for BUFFER at least so many are bound, 0 if unknown */
  uint32_t alignment; /* bytes, a power of two, that the first element is aligned to */
  uint32_t name;      /* offset of a string: a C identifier that no other param has */
  int64_t minimum;    /* SCALAR integers: the launch gives a value in [minimum, maximum] */
  int64_t maximum;
} tn_param;

/* tn_op.flags */
#define TN_OP_CONTRACT 1u    /* this ADD may be fused with the MUL that feeds it */
#define TN_OP_APPROXIMATE 2u /* a fast, less exact form will do (the relaxed profile) */
#define TN_OP_STREAM \
  4u /* TAKE, STORE: not used again soon; non-temporal if there is such a thing */
#define TN_OP_UNROLL 8u    /* LOOP: worth unrolling fully */
#define TN_OP_WHILE 16u    /* LOOP: also ends when the END's last operand is false */
#define TN_OP_ALIGNED 32u  /* TAKE, STORE: the first element is aligned to lanes * element size */
#define TN_OP_PIPELINE 64u /* LOOP: reserved */
#define TN_OP_NO_WRAP 128u /* integer ADD, MUL, SUB on indices: the exact result fits the dtype */

/* tn_op.imm of an INDEX. */
typedef enum tn_axis {
  TN_AXIS_GRID_X = 0,
  TN_AXIS_GRID_Y = 1,
  TN_AXIS_GRID_Z = 2,
  TN_AXIS_BLOCK_X = 3, /* thread inside its workgroup */
  TN_AXIS_BLOCK_Y = 4,
  TN_AXIS_BLOCK_Z = 5,
  TN_AXIS_LANE = 6, /* vector whose lane l is l */
  TN_AXIS_SUBGROUP = 7,
  TN_AXIS_SUBGROUP_LANE = 8,
  TN_AXIS_CLUSTER_X = 9, /* reserved, with y and z after it */
  TN_AXIS_CPU_THREAD = 12
} tn_axis;

typedef enum tn_scope {
  TN_SCOPE_THREAD = 0, /* of a tn_matrix_atom alone */
  TN_SCOPE_SUBGROUP = 1,
  TN_SCOPE_BLOCK = 2,
  TN_SCOPE_CLUSTER = 3
} tn_scope;

/* tn_op.imm of an ATOMIC: tn_atomic | (tn_scope << 8). On a buffer it is atomic for the whole
 * launch, whatever the scope. */
typedef enum tn_atomic {
  TN_ATOMIC_ADD = 1,
  TN_ATOMIC_MIN = 2,
  TN_ATOMIC_MAX = 3,
  TN_ATOMIC_EXCHANGE = 4,
  TN_ATOMIC_COMPARE_EXCHANGE = 5
} tn_atomic;

/* tn_op.imm of a MATRIX op: atom id | TN_MATRIX_A.. << 32 | TN_MATRIX_TRANSPOSED. */
#define TN_MATRIX_A (UINT64_C(0) << 32)
#define TN_MATRIX_B (UINT64_C(1) << 32)
#define TN_MATRIX_C (UINT64_C(2) << 32)
#define TN_MATRIX_ROLE (UINT64_C(3) << 32)
#define TN_MATRIX_TRANSPOSED (UINT64_C(1) << 40)
#define TN_MATRIX_LINES (UINT64_C(1) << 42)

#define TN_CAST_VALUE 0u /* tn_op.imm of a CAST */
#define TN_CAST_BITS 1u

/* One op, and the value of the same number. 32 bytes.
 *
 *   op            dtype, lanes      imm
 *   CONST         of the value      bits of the value, zero-extended; the same in every lane
 *   PARAM         of the elements   index into tn_param[]; a SCALAR's value is its value
 *   INDEX         i32 or i64        tn_axis
 *   CAST          target            TN_CAST_VALUE or TN_CAST_BITS
 *   comparison    bool              0
 *   TAKE          of the value      0
 *   STORE, END, ELSE, BARRIER, IF   dtype VOID, lanes 0
 *   LOOP          i32 or i64        0
 *   CARRY         of the value      which carried value
 *   EXTRACT       of the lane       lane
 *   LANE_REDUCE   of the lane       tn_opcode
 *   SUBGROUP_REDUCE                 tn_opcode
 *   MATRIX_LOAD   of the elements   TN_MATRIX_ bits
 *   ASYNC_COPY    VOID, lanes 0     bytes: 4, 8 or 16
 *   ASYNC_WAIT    VOID, lanes 0     groups that may still be in flight
 *   DOT           of the sum        0
 *
 * DOT [x, y, z]: lane l is lane l of z plus the products of lanes p*l to p*l + p - 1 of x and y,
 * exact ones, added in any order. p is 2, 4, 8 or 16: x or y has p lanes for each of z, the other
 * one too or p lanes that serve all. A tn_matrix_atom of TN_SCOPE_THREAD says which dtypes.
 */
typedef struct tn_op {
  uint16_t op;    /* tn_opcode */
  uint16_t lanes; /* 1 for a scalar */
  uint8_t dtype;  /* tn_dtype of the value */
  uint8_t reserved0;
  uint16_t operand_count;
  uint32_t operands; /* index of the first one in the operand array */
  uint32_t flags;    /* TN_OP_ bits */
  uint64_t imm;
  uint32_t attributes; /* offset of attribute bytes of an INTRINSIC, 0 if none */
  uint32_t reserved1;
} tn_op;

typedef struct tn_program {
  uint32_t magic;       /* TN_PROGRAM_MAGIC */
  uint32_t version;     /* TN_PROGRAM_VERSION of the writer */
  uint32_t header_size; /* sizeof(tn_program) of the writer */
  uint32_t total_size;  /* bytes of the whole block */
  uint32_t name;        /* offset of a string: a C identifier */
  uint32_t flags;       /* 0 */
  uint32_t param_count;
  uint32_t param_stride; /* sizeof(tn_param) of the writer */
  uint32_t params;       /* offset */
  uint32_t op_count;
  uint32_t op_stride; /* sizeof(tn_op) of the writer */
  uint32_t ops;       /* offset */
  uint32_t operand_count;
  uint32_t operands; /* offset */
  uint32_t data_size;
  uint32_t data;          /* offset */
  uint32_t workgroup[3];  /* threads in a workgroup, at least 1 each */
  uint32_t shared_bytes;  /* sum of the static SHARED allocations, each aligned */
  uint32_t scratch_bytes; /* sum of the SCRATCH allocations of a thread, each aligned */
  uint32_t subgroup_size; /* the kernel counts on it; 0 if it does not */
  uint32_t reserved[2];
} tn_program;

#ifdef __cplusplus
}
#endif
#endif
