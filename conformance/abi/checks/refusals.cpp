// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of calls that must be refused, and of targets by name.
#include <cstring>
#include <optional>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/refused.hpp"
#include "conformance/abi/saved.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::checks {
namespace {

void open_beyond(const CheckContext& c) {
  for (const uint32_t index : {c.subject.devices, c.subject.devices + 1, UINT32_MAX}) {
    c.alive();
    expect_refused<tn_device*>(
        fmt::format("device_open of number {} of {}", index, c.subject.devices).c_str(),
        [&](tn_device** out, tn_error* error) {
          return c.table().device_open(index, c.subject.options_or_null(), out, error);
        });
  }
  expect_refused<tn_device*>(
      "device_open with an unknown option", [&](tn_device** out, tn_error* error) {
        return c.table().device_open(c.subject.index, "no_such_option_is_known=1", out, error);
      });
  for (const size_t length : {size_t{9}, size_t{31}, size_t{32}, size_t{33}, size_t{64}}) {
    const std::string key = "no_" + std::string(length - 4, 'k') + "z";
    tn_error error = abi_struct<tn_error>();
    tn_device* opened = nullptr;
    c.table().device_open(c.subject.index, (key + "=1").c_str(), &opened, &error);
    expect(
        !opened && fixed_string(error.message).find(key) != std::string::npos,
        "device_open with an unknown option of {} letters: expected a message that names it, got "
        "\"{}\"",
        length, fixed_string(error.message));
  }
  // A message with all of it has no room, and ends all the same.
  const std::string name(600, 'x');
  tn_error error = abi_struct<tn_error>();
  std::memset(error.message, 'y', sizeof error.message);
  tn_device* opened = nullptr;
  const int32_t status =
      c.table().device_open(c.subject.index, (name + "=1").c_str(), &opened, &error);
  expect(status != TN_OK && !opened, "device_open with an unknown option: expected it refused");
  expect(std::memchr(error.message, 0, sizeof error.message),
         "device_open with an unknown option of {} letters: expected a message that ends within {} "
         "bytes",
         name.size(), sizeof error.message);
}

void refuse_properties(const CheckContext& c) {
  tn_target target = abi_struct<tn_target>();
  target.name = "no-such-target-is-known";
  expect_refused<const tn_properties*>("properties of an unknown target",
                                       [&](const tn_properties** out, tn_error* error) {
                                         return c.table().properties(&target, out, error);
                                       });
}

void refuse_memory(const OpenDevice& device) {
  const tn_plugin& t = device.table();
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    if (!(device.spaces()[s].flags & TN_MEMORY_IMPORT) && t.memory_import) {
      alignas(4096) static uint8_t bytes[4096];
      expect_refused<tn_memory*>(
          fmt::format("memory_import into space {} without TN_MEMORY_IMPORT", s).c_str(),
          [&](tn_memory** out, tn_error* error) {
            return t.memory_import(device.handle(), s, bytes, sizeof bytes, out, error);
          });
    }
    if (device.is_visible(s)) continue;
    const MemoryHandle memory = device.allocate(s, 4096);
    if (!memory) continue;
    expect_refused<void*>(
        fmt::format("memory_map in space {}, which the host does not see,", s).c_str(),
        [&](void** out, tn_error* error) { return t.memory_map(memory.get(), 0, 64, out, error); });
  }
}

/// Programs that no device takes, or that this one does not claim.
std::vector<std::pair<std::string, sdk::Program>> refused_programs(const OpenDevice& device) {
  std::vector<std::pair<std::string, sdk::Program>> out;
  const auto storing = [](const char* name, tn_dtype dtype, tn_opcode op) {
    sdk::ProgramBuilder b(name);
    const auto y = b.buffer("y", dtype, TN_ACCESS_READ | TN_ACCESS_WRITE);
    const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    const auto x = b.op(TN_OP_TAKE, dtype, 1, {y, i});
    const auto value = op == TN_OP_INVALID            ? x
                       : sdk::op_info(op)->arity == 1 ? b.op(op, dtype, 1, {x})
                                                      : b.op(op, dtype, 1, {x, x});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, i, value});
    return b.finish();
  };
  const sdk::Program plain = storing("plain", TN_DTYPE_I32, TN_OP_ADD);
  for (const auto& [what, offset] : {std::pair("magic", offsetof(tn_program, magic)),
                                     std::pair("version", offsetof(tn_program, version)),
                                     std::pair("ops", offsetof(tn_program, ops)),
                                     std::pair("workgroup", offsetof(tn_program, workgroup))}) {
    sdk::Program damaged = plain;
    const uint32_t wild = std::strcmp(what, "workgroup") == 0 ? 0 : 0x7ffffff0;
    std::memcpy(reinterpret_cast<char*>(const_cast<tn_program*>(damaged.get())) + offset, &wild,
                sizeof wild);
    out.emplace_back(fmt::format("a program with {} {:#x}", what, wild), std::move(damaged));
  }
  for (const sdk::DTypeInfo& row : sdk::all_dtypes())
    if (const auto dtype = static_cast<tn_dtype>(row.dtype); !device.dtype_flags(dtype))
      out.emplace_back(fmt::format("dtype {}, which is not claimed", row.dtype),
                       storing("unclaimed", dtype, TN_OP_INVALID));
  for (const sdk::OpInfo& row : sdk::all_ops()) {
    const auto op = static_cast<tn_opcode>(row.op);
    const bool is_arithmetic = row.kind == sdk::OpKind::UNARY || row.kind == sdk::OpKind::BINARY;
    if (is_arithmetic && (row.flags & sdk::kOpOptional) && sdk::takes(row.types, TN_DTYPE_F32) &&
        !device.claims(op))
      out.emplace_back(fmt::format("op {}, which is not claimed", row.op),
                       storing("unclaimed", TN_DTYPE_F32, op));
  }
  if (const uint32_t most = device.properties().max_workgroup_threads) {
    sdk::ProgramBuilder b("wide");
    b.workgroup(most + 1, 1, 1);
    const auto y = b.buffer("y", TN_DTYPE_I32, TN_ACCESS_WRITE);
    const auto i = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, i, i});
    out.emplace_back(fmt::format("{} threads of {}", most + 1, most), b.finish());
  }
  return out;
}

void refuse_program(const OpenDevice& device, const tn_target& target, const std::string& what,
                    const sdk::Program& program, bool must) {
  const tn_plugin& t = device.table();
  std::string reason(300, kNoReason);
  const int32_t answer = t.supports(&target, program.get(), 300, reason.data());
  if (answer != TN_SUPPORT_NO && !must) return;
  if (answer != TN_SUPPORT_NO)
    find("support", "supports: expected NO for {}, got {}", what, answer);
  expect_reason(reason, what.c_str());
  expect_refused<tn_executable*>(fmt::format("compile of {}", what).c_str(),
                                 [&](tn_executable** out, tn_error* error) {
                                   return t.compile(&target, program.get(), nullptr, out, error);
                                 });
}

void refuse_programs(const CheckContext& c, const OpenDevice& device) {
  const tn_plugin& t = device.table();
  const tn_target target = device.target();
  for (const auto& [what, program] : refused_programs(device)) {
    c.alive();
    refuse_program(device, target, what, program, what.starts_with("a program"));
  }
  tn_target unknown = abi_struct<tn_target>();
  unknown.name = "no-such-target-is-known";
  sdk::ProgramBuilder b("plain");
  const auto y = b.buffer("y", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, i, i});
  refuse_program(device, unknown, "an unknown target", b.finish(), true);
  if (can_save(device)) {
    const std::string garbage(100, 'g');
    expect_refused<tn_executable*>(
        "executable_load of bytes that nobody saved", [&](tn_executable** out, tn_error* error) {
          return t.executable_load(&target, garbage.data(), garbage.size(), out, error);
        });
  }
  if (!t.executable_text) return;
  const Loaded loaded = any_kernel(device);
  for (const uint32_t kind : {TN_TEXT_SOURCE, TN_TEXT_ASSEMBLY})
    refused::with_each_error("executable_text", [&](tn_error* error) {
      return t.executable_text(
          loaded.executable.get(), kind, [](void*, const void*, size_t) {}, nullptr, error);
    });
}

void refused_calls(const CheckContext& c) {
  refuse_properties(c);
  const OpenDevice device = c.open();
  c.alive();
  refuse_memory(device);
  if (device.is_async()) {
    const TimelineHandle timeline = device.make_timeline(3);
    expect_refused("timeline_wait for what is not reached", [&](tn_error* error) {
      return c.table().timeline_wait(timeline.get(), 4, 1000, error);
    });
  }
  if (device.computes()) refuse_programs(c, device);
}

/// What enumerate calls the target of a device may be known by name, and then without it.
void named_targets(const CheckContext& c) {
  std::vector<tn_device_info> infos(c.subject.devices, abi_struct<tn_device_info>());
  uint32_t count = 0;
  tn_error error = abi_struct<tn_error>();
  expect_ok(c.table().device_enumerate(c.subject.devices, sizeof(tn_device_info), infos.data(), 0,
                                       nullptr, &count, &error),
            error, "device_enumerate");
  std::vector<std::string> names;
  for (const tn_device_info& info : infos) {
    // "sm_90a", or "x86-64/znver5" of which both parts may be names.
    const std::string whole = fixed_string(info.target);
    names.push_back(whole);
    names.push_back(whole.substr(0, whole.find('/')));
    names.push_back(whole.substr(whole.find('/') + 1));
  }
  bool any = false;
  for (const std::string& name : names) {
    c.alive();
    tn_target target = abi_struct<tn_target>();
    target.name = name.c_str();
    const tn_properties* raw = nullptr;
    const int32_t status = c.table().properties(&target, &raw, &error);
    if (status == TN_ERROR_NOT_FOUND) continue;
    expect_ok(status, error, "properties of a target");
    expect(raw, "properties of a target: expected some, got TN_OK and null");
    const tn_properties properties = abi_read(raw);
    if (!(properties.flags & TN_DEVICE_COMPUTE)) continue;
    any = true;
    sdk::ProgramBuilder b("plain");
    const auto y = b.buffer("y", TN_DTYPE_I32, TN_ACCESS_WRITE);
    const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, i, i});
    const sdk::Program program = b.finish();
    std::string reason(300, kNoReason);
    const int32_t answer = c.table().supports(&target, program.get(), 300, reason.data());
    if (answer == TN_SUPPORT_NO) {
      expect_reason(reason, "a named target");
      find("support",
           "supports: expected a program that stores an i32 to be taken for the target \"{}\" "
           "without a device, got NO ({})",
           name, reason.c_str());
    }
    tn_executable* made = nullptr;
    const int32_t compiled = c.table().compile(&target, program.get(), nullptr, &made, &error);
    if (compiled != TN_OK)
      find("support", "compile for the target \"{}\" without a device: expected TN_OK, got {} ({})",
           name, status_text(compiled), error_message(compiled, error));
    expect(made, "compile: expected an executable, got TN_OK and null");
    c.table().executable_destroy(made);
    if (!(properties.flags & TN_DEVICE_SAVE)) continue;
    std::optional<OpenDevice> beside(c.open());
    expect_ok(c.table().compile(&target, program.get(), nullptr, &made, &error), error,
              "compile for a target by its name");
    const ExecutableHandle executable(made, {c.table().executable_destroy});
    beside.reset();
    const int32_t saved = c.table().executable_save(
        made, [](void*, const void*, size_t) {}, nullptr, &error);
    if (saved != TN_OK)
      find("error",
           "executable_save of what was compiled for the target \"{}\", after a device that was "
           "open beside it was closed: expected TN_OK, got {} ({})",
           name, status_text(saved), error_message(saved, error));
  }
  need(any, "the plugin knows no target by the name that its devices give");
}

}  // namespace

std::span<const CheckRow> refusal_checks() {
  static constexpr CheckRow kRows[] = {
      {"open_beyond", open_beyond, 42},
      {"refused_calls", refused_calls, 42},
      {"named_targets", named_targets, 30},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
