// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of bytes that several use: atomics, copies that are awaited later, bindings that overlap.
#include <algorithm>
#include <array>
#include <cstring>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/probe_programs.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

constexpr uint32_t kAtomicThreads = 48;

uint64_t imm_of(tn_atomic way) { return way | uint64_t{TN_SCOPE_BLOCK} << 8; }

/// Each thread on a cell of its own, whose old value it keeps; of ways that commute all on one
/// cell, too. What is compared with is the cell, or differs from it in one bit, low or high.
/// With `threads`, of one workgroup, the cells are in shared memory meanwhile.
sdk::Program atomic_program(tn_dtype dtype, tn_atomic way, uint32_t threads) {
  ProgramBuilder b("atomic");
  b.workgroup(std::max(threads, 1u), 1, 1);
  const uint32_t count = threads ? threads : kAtomicThreads;
  const Value global = b.buffer("cells", dtype, kReadWrite, count + 1);
  const Value out = b.buffer("out", dtype, kReadWrite, count);
  const Value x = b.buffer("x", dtype, TN_ACCESS_READ, count);
  const Value cells = threads ? b.allocate("shared", dtype, TN_SPACE_SHARED, count + 1) : global;
  const Value i = b.index(threads ? TN_AXIS_BLOCK_X : TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto move = [&](Value to, Value from) {
    if (!threads) return;
    const auto move_one = [&](Value at) {
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {to, at, b.op(TN_OP_TAKE, dtype, 1, {from, at})});
    };
    move_one(i);
    b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {i, i32_constant(b, 1)}));
    move_one(i32_constant(b, count));
    b.end();
    b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  };
  move(cells, global);
  const Value value = b.op(TN_OP_TAKE, dtype, 1, {x, i});
  std::vector<Value> operands = {cells, i, value};
  if (way == TN_ATOMIC_COMPARE_EXCHANGE) {
    const Value third = b.op(TN_OP_MOD, TN_DTYPE_I32, 1, {i, i32_constant(b, 3)});
    const auto is = [&](int64_t n) {
      return b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {third, i32_constant(b, n)});
    };
    const uint32_t bits = sdk::dtype_bytes(uint8_t(dtype)) * 8;
    const Value high = b.constant(dtype, uint64_t{1} << (bits - 3)), low = b.constant(dtype, 1);
    const Value flip =
        b.op(TN_OP_WHERE, dtype, 1,
             {is(1), b.constant(dtype, 0), b.op(TN_OP_WHERE, dtype, 1, {is(2), high, low})});
    const Value now = b.op(TN_OP_TAKE, dtype, 1, {cells, i});
    operands.push_back(b.op(TN_OP_XOR, dtype, 1, {now, flip}));
  }
  const Value old = b.op(TN_OP_ATOMIC, dtype, 1, operands, imm_of(way));
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i, old});
  if (way <= TN_ATOMIC_MAX && dtype != TN_DTYPE_F32)  // which threads may add in any order
    b.op(TN_OP_ATOMIC, dtype, 1, {cells, i32_constant(b, count), value}, imm_of(way));
  if (threads) b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  move(global, cells);
  return b.finish();
}

void atomics(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.claims(TN_OP_ATOMIC), "the device claims no atomics");
  bool any = false;
  for (const tn_dtype dtype :
       {TN_DTYPE_U64, TN_DTYPE_I64, TN_DTYPE_U32, TN_DTYPE_I32, TN_DTYPE_F32}) {
    if (!(device.dtype_flags(dtype) & TN_DTYPE_ATOMICS)) continue;
    for (const tn_atomic way : {TN_ATOMIC_ADD, TN_ATOMIC_MIN, TN_ATOMIC_MAX, TN_ATOMIC_EXCHANGE,
                                TN_ATOMIC_COMPARE_EXCHANGE}) {
      // Sums of floats depend on their order; bits of floats are flipped as integers.
      const bool is_integers = way == TN_ATOMIC_ADD || way == TN_ATOMIC_COMPARE_EXCHANGE;
      if (dtype == TN_DTYPE_F32 && is_integers) continue;
      c.alive();
      any |= run_probe(device, atomic_program(dtype, way, 0), false, kAtomicThreads);
      const uint32_t threads = most_threads(device.properties(), 32);
      any |= run_probe(device, atomic_program(dtype, way, threads), false);
    }
  }
  need(any, "the device takes no such program");
}

constexpr uint64_t kTicket = 3;

/// cell += kTicket in each thread, which keeps what it found. The cell may be in shared memory.
sdk::Program ticket_program(tn_dtype dtype, uint32_t threads, bool is_shared) {
  ProgramBuilder b("tickets");
  b.workgroup(threads, 1, 1);
  const Value global = b.buffer("cell", dtype, kReadWrite, 1);
  const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  Value cell = global;
  if (is_shared) {
    cell = b.allocate("shared", dtype, TN_SPACE_SHARED, 1);
    b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {thread, i32_constant(b, 1)}));
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {cell, i32_constant(b, 0), b.op(TN_OP_TAKE, dtype, 1, {global, i32_constant(b, 0)})});
    b.end();
    b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  }
  const Value group = b.op(TN_OP_MUL, TN_DTYPE_I32, 1,
                           {b.index(TN_AXIS_GRID_X, TN_DTYPE_I32), i32_constant(b, threads)});
  const Value old =
      b.op(TN_OP_ATOMIC, dtype, 1, {cell, i32_constant(b, 0), b.constant(dtype, kTicket)},
           imm_of(TN_ATOMIC_ADD));
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
       {out, b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {group, thread}), old});
  return b.finish();
}

/// Threads that add to one cell: each finds what another one left.
void atomic_tickets(const CheckContext& c) {
  constexpr uint64_t kFirst = 100;
  const OpenDevice device = computing(c);
  need(device.claims(TN_OP_ATOMIC), "the device claims no atomics");
  const uint32_t threads = most_threads(device.properties(), 64);
  const uint32_t most = device.properties().max_grid[0];
  bool any = false;
  for (const tn_dtype dtype : {TN_DTYPE_U32, TN_DTYPE_I32, TN_DTYPE_U64, TN_DTYPE_I64})
    for (const bool is_shared : {false, true}) {
      if (!(device.dtype_flags(dtype) & TN_DTYPE_ATOMICS)) continue;
      c.alive();
      const uint32_t groups = is_shared ? 1 : most ? std::min(most, 5u) : 5;
      const sdk::Program program = ticket_program(dtype, threads, is_shared);
      const ExecutableHandle executable = compile_claimed(device, program, {groups, 1, 1});
      if (!executable) continue;
      any = true;
      const uint64_t width = sdk::dtype_bytes(uint8_t(dtype)), count = uint64_t{threads} * groups;
      const MemoryHandle cell = any_memory(device, 8), out = any_memory(device, count * width);
      const tn_argument arguments[] = {buffer_argument(cell.get(), 0, width),
                                       buffer_argument(out.get(), 0, count * width)};
      tn_command commands[] = {fill_command(cell.get(), 0, 8, kFirst, static_cast<uint32_t>(width)),
                               launch_command(executable.get(), {groups, 1, 1}, {}, arguments)};
      commands[1].block[0] = threads;
      device.run(commands);
      std::vector<uint8_t> bytes(count * width);
      device.read(out.get(), 0, 0, bytes);
      std::vector<uint64_t> found(count);
      for (size_t i = 0; i < count; ++i) std::memcpy(&found[i], &bytes[i * width], width);
      std::ranges::sort(found);
      for (size_t i = 0; i < count; ++i)
        if (found[i] != kFirst + kTicket * i)
          find(
              "mismatch",
              "atomic additions of {} by {} threads to a cell of {}{} that was {}: expected one of "
              "them to find {}, got {} in its place",
              kTicket, count, sdk::dtype_text(uint8_t(dtype)), is_shared ? " in shared memory" : "",
              kFirst, kFirst + kTicket * i, found[i]);
    }
  need(any, "the device takes no such program");
}

/// Groups of copies from x to shared memory, all begun before any is awaited; then all are, or
/// one after the other, of which each is stored at once.
sdk::Program async_program(uint32_t groups, bool at_once) {
  constexpr uint32_t kWords = 4;
  const uint64_t count = uint64_t{groups} * kWords;
  ProgramBuilder b("async");
  const Value out = b.buffer("out", TN_DTYPE_U32, TN_ACCESS_WRITE, count);
  const Value x = b.buffer("x", TN_DTYPE_U32, TN_ACCESS_READ, count);
  const Value shared = b.allocate("s", TN_DTYPE_U32, TN_SPACE_SHARED, count);
  const auto store = [&](uint32_t g) {
    for (uint32_t k = g * kWords; k < (g + 1) * kWords; ++k)
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
           {out, i32_constant(b, k),
            b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {shared, i32_constant(b, k)})});
  };
  for (uint32_t g = 0; g < groups; ++g) {
    for (uint32_t k = g * kWords; k < (g + 1) * kWords; ++k)
      b.op(TN_OP_ASYNC_COPY, TN_DTYPE_VOID, 0, {shared, i32_constant(b, k), x, i32_constant(b, k)},
           4);
    b.op(TN_OP_ASYNC_COMMIT, TN_DTYPE_VOID, 0, {});
  }
  for (uint32_t g = 0; g < groups; ++g) {
    if (!at_once || g == 0)
      b.op(TN_OP_ASYNC_WAIT, TN_DTYPE_VOID, 0, {}, at_once ? 0 : groups - 1 - g);
    store(g);
  }
  return b.finish();
}

void async_groups(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.claims(TN_OP_ASYNC_COPY), "the device claims no asynchronous copies");
  bool any = false;
  for (const uint32_t groups : {1u, 3u, 8u})
    for (const bool at_once : {true, false}) {
      c.alive();
      const sdk::Program program = async_program(groups, at_once);
      const ExecutableHandle executable = compile_claimed(device, program, {1, 1, 1});
      if (!executable) continue;
      any = true;
      std::vector<uint32_t> words(size_t{groups} * 4), got(words.size(), 0);
      for (uint32_t i = 0; i < words.size(); ++i) words[i] = (i + 1) * 0x9E3779B1u;
      const uint64_t size = words.size() * 4;
      const MemoryHandle x = any_memory(device, size), out = any_memory(device, size);
      device.write(x.get(), 0, 0, {reinterpret_cast<const uint8_t*>(words.data()), size});
      const tn_argument arguments[] = {buffer_argument(out.get(), 0, size),
                                       buffer_argument(x.get(), 0, size)};
      const tn_command command = launch_command(executable.get(), {1, 1, 1}, {}, arguments);
      device.run({&command, 1});
      device.read(out.get(), 0, 0, {reinterpret_cast<uint8_t*>(got.data()), size});
      for (size_t i = 0; i < words.size(); ++i)
        if (got[i] != words[i])
          find("mismatch",
               "word {} of {} groups of asynchronous copies that are in flight together: expected "
               "{:#x} after the wait for group {}, got {:#x}",
               i, groups, words[i], i / 4, got[i]);
    }
  need(any, "the device takes no such program");
}

/// y[i] = 3 x[i] + 1, then z[i] = x[i] + y[i]: each thread on elements of its own. What x and y
/// hold then depends on which of them are one.
sdk::Program overlap_program() {
  ProgramBuilder b("overlap");
  const Value x = b.buffer("x", TN_DTYPE_U32, TN_ACCESS_READ);
  const Value w = b.buffer("w", TN_DTYPE_U32, TN_ACCESS_READ);
  const Value y = b.buffer("y", TN_DTYPE_U32, kReadWrite);
  const Value z = b.buffer("z", TN_DTYPE_U32, TN_ACCESS_WRITE);
  const Value i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto take = [&](Value from) { return b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {from, i}); };
  const auto op = [&](tn_opcode code, Value l, Value r) {
    return b.op(code, TN_DTYPE_U32, 1, {l, r});
  };
  const auto store = [&](Value to, Value value) {
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {to, i, value});
  };
  const Value first = op(TN_OP_ADD, op(TN_OP_MUL, take(x), b.constant(TN_DTYPE_U32, 3)), take(w));
  store(y, first);
  store(z, op(TN_OP_ADD, op(TN_OP_MUL, take(x), b.constant(TN_DTYPE_U32, 5)), take(y)));
  store(y, op(TN_OP_XOR, take(w), take(x)));
  return b.finish();
}

/// Places of x, w, y and z, in buffers' lengths.
using Places = std::array<uint64_t, 4>;

/// The same, on memory.
void apply_overlap(std::vector<uint32_t>& words, const Places& at, uint64_t count, uint64_t step) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto word = [&](size_t which) -> uint32_t& { return words[at[which] * step + i]; };
    word(2) = word(0) * 3 + word(1);
    word(3) = word(0) * 5 + word(2);
    word(2) = word(1) ^ word(0);
  }
}

void overlapping_bindings(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.dtype_flags(TN_DTYPE_U32) & TN_DTYPE_ARITHMETIC, "no arithmetic on u32 is claimed");
  need(!device.properties().max_bindings || device.properties().max_bindings >= 4,
       "the device binds fewer buffers");
  const sdk::Program program = overlap_program();
  const CompileAnswer answer = device.compile(*program.get());
  need(answer.executable != nullptr, "the device takes no such program");
  const uint32_t most = device.properties().max_grid[0], count = most ? std::min(most, 50u) : 50;
  const uint64_t bytes = std::max<uint64_t>(device.spaces()[0].alignment, 256) / 256 * 256;
  const uint64_t step = bytes / 4;
  const MemoryHandle memory = any_memory(device, bytes * 4);
  // Apart; inputs that are one; an output that is an input; outputs that are one; all.
  for (const Places& at :
       {Places{0, 1, 2, 3}, Places{0, 0, 2, 3}, Places{0, 1, 0, 3}, Places{0, 1, 2, 1},
        Places{0, 1, 2, 2}, Places{2, 2, 2, 3}, Places{1, 1, 1, 1}}) {
    c.alive();
    std::vector<uint32_t> words(step * 4), got(words.size());
    for (uint32_t i = 0; i < words.size(); ++i) words[i] = (i + 1) * 0x9E3779B1u;
    device.write(memory.get(), 0, 0,
                 {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4});
    tn_argument arguments[4];
    for (size_t k = 0; k < at.size(); ++k)
      arguments[k] = buffer_argument(memory.get(), at[k] * bytes, uint64_t{count} * 4);
    const tn_command command =
        launch_command(answer.executable.get(), {count, 1, 1}, {}, arguments);
    device.run({&command, 1});
    apply_overlap(words, at, count, step);
    device.read(memory.get(), 0, 0, {reinterpret_cast<uint8_t*>(got.data()), got.size() * 4});
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] != got[i])
        find("mismatch",
             "word {} of a slab in which x, w, y and z are bound at {}, {}, {} and {} times {} "
             "bytes: expected {:#x}, as each thread's accesses come in order, got {:#x}",
             i, at[0], at[1], at[2], at[3], bytes, words[i], got[i]);
  }
}

/// Stores whole words through one buffer and loads them through another one, of another dtype.
sdk::Program other_dtype_program(tn_dtype stored, tn_dtype loaded, uint32_t bytes) {
  ProgramBuilder b("other_dtype");
  const auto width = [](tn_dtype dtype) { return sdk::dtype_bytes(uint8_t(dtype)); };
  const Value x = b.buffer("x", stored, kReadWrite, bytes / width(stored));
  const Value y = b.buffer("y", loaded, kReadWrite, bytes / width(loaded));
  const Value out = b.buffer("out", loaded, TN_ACCESS_WRITE, bytes / width(loaded));
  const Value source = b.buffer("source", stored, TN_ACCESS_READ, bytes / width(stored));
  for (uint32_t i = 0; i < bytes / width(stored); ++i)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {x, i32_constant(b, i), b.op(TN_OP_TAKE, stored, 1, {source, i32_constant(b, i)})});
  for (uint32_t i = 0; i < bytes / width(loaded); ++i)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {out, i32_constant(b, i), b.op(TN_OP_TAKE, loaded, 1, {y, i32_constant(b, i)})});
  return b.finish();
}

/// Buffers of unlike dtypes that are the same bytes: a store through one is there for the other.
void bindings_of_unlike_dtypes(const CheckContext& c) {
  constexpr uint32_t kBytes = 32;
  constexpr std::pair<tn_dtype, tn_dtype> kPairs[] = {
      {TN_DTYPE_F32, TN_DTYPE_U32}, {TN_DTYPE_U32, TN_DTYPE_F32}, {TN_DTYPE_U64, TN_DTYPE_F64},
      {TN_DTYPE_I32, TN_DTYPE_U32}, {TN_DTYPE_U8, TN_DTYPE_U32},  {TN_DTYPE_U32, TN_DTYPE_U8},
      {TN_DTYPE_I64, TN_DTYPE_F32}, {TN_DTYPE_F16, TN_DTYPE_I32}, {TN_DTYPE_U32, TN_DTYPE_I16}};
  const OpenDevice device = computing(c);
  bool any = false;
  for (const auto& [stored, loaded] : kPairs) {
    const sdk::Program program = other_dtype_program(stored, loaded, kBytes);
    c.alive();
    const ExecutableHandle executable = compile_claimed(device, program, {1, 1, 1});
    if (!executable) continue;
    any = true;
    // No bits of a NaN or a subnormal, which may not stay.
    std::vector<uint8_t> bytes(kBytes), got(kBytes);
    for (uint32_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<uint8_t>(0x31 + i);
    const MemoryHandle both = any_memory(device, kBytes), out = any_memory(device, kBytes),
                       source = any_memory(device, kBytes);
    device.write(both.get(), 0, 0, std::vector<uint8_t>(kBytes, 0x2A));
    device.write(source.get(), 0, 0, bytes);
    const tn_argument arguments[] = {
        buffer_argument(both.get(), 0, kBytes), buffer_argument(both.get(), 0, kBytes),
        buffer_argument(out.get(), 0, kBytes), buffer_argument(source.get(), 0, kBytes)};
    const tn_command command = launch_command(executable.get(), {1, 1, 1}, {}, arguments);
    device.run({&command, 1});
    device.read(out.get(), 0, 0, got);
    for (uint32_t i = 0; i < kBytes; ++i)
      if (got[i] != bytes[i])
        find("mismatch",
             "byte {} loaded as {} from memory that was stored to as {} through another binding: "
             "expected {:#04x}, got {:#04x}",
             i, sdk::dtype_text(uint8_t(loaded)), sdk::dtype_text(uint8_t(stored)), bytes[i],
             got[i]);
  }
  need(any, "the device takes no such program");
}

/// Buffers of which one is never touched.
sdk::Program untouched_program(uint32_t buffers, uint32_t untouched) {
  ProgramBuilder b("untouched");
  std::vector<Value> all;
  for (uint32_t i = 0; i < buffers; ++i)
    all.push_back(
        b.buffer(fmt::format("b{}", i), TN_DTYPE_U32, kReadWrite, i == untouched ? 0 : 1));
  for (uint32_t i = 0; i < buffers; ++i)
    if (i != untouched)
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
           {all[i], i32_constant(b, 0), b.constant(TN_DTYPE_U32, 100 + i)});
  return b.finish();
}

/// A buffer of no bytes, with no memory, at each place.
void null_arguments(const CheckContext& c) {
  constexpr uint32_t kBuffers = 5, kOld = 0xEEEEEEEE;
  const OpenDevice device = computing(c);
  bool any = false;
  for (uint32_t untouched = 0; untouched < kBuffers; ++untouched) {
    const sdk::Program program = untouched_program(kBuffers, untouched);
    c.alive();
    const ExecutableHandle executable = compile_claimed(device, program, {1, 1, 1});
    if (!executable) continue;
    any = true;
    std::vector<MemoryHandle> memory;
    std::vector<tn_argument> arguments;
    for (uint32_t i = 0; i < kBuffers; ++i) {
      memory.push_back(any_memory(device, 4));
      const std::vector<uint8_t> old(4, 0xEE);
      device.write(memory[i].get(), 0, 0, old);
      arguments.push_back(i == untouched ? buffer_argument(nullptr, 0, 0)
                                         : buffer_argument(memory[i].get(), 0, 4));
    }
    const tn_command command = launch_command(executable.get(), {1, 1, 1}, {}, arguments);
    device.run({&command, 1});
    for (uint32_t i = 0; i < kBuffers; ++i) {
      uint32_t got = 0;
      device.read(memory[i].get(), 0, 0, {reinterpret_cast<uint8_t*>(&got), 4});
      const uint32_t wanted = i == untouched ? kOld : 100 + i;
      if (got != wanted)
        find("mismatch",
             "buffer {} of a launch whose argument {} has no bytes and no memory: expected {:#x}, "
             "got {:#x}",
             i, untouched, wanted, got);
    }
  }
  need(any, "the device takes no such program");
}

}  // namespace

std::span<const CheckRow> shared_byte_checks() {
  static constexpr CheckRow kRows[] = {
      {"atomics", atomics, 57},
      {"atomic_tickets", atomic_tickets, 57},
      {"async_groups", async_groups, 27},
      {"overlapping_bindings", overlapping_bindings, 60},
      {"bindings_of_unlike_dtypes", bindings_of_unlike_dtypes, 60},
      {"null_arguments", null_arguments, 34},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
