// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts C calls to calls of backend.hpp: checks arguments, guards, converts handles.
#include "sdk/backend/backend_table.hpp"

#include <fmt/format.h>

#include <chrono>

#include "sdk/backend/check_support.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::sdk::table {
namespace {

template <class Handle, class Object>
void hand_out(Handle** out, std::unique_ptr<Object> object) {
  if (!object) throw Failure(TN_ERROR_INTERNAL, "the backend made no object");
  *out = reinterpret_cast<Handle*>(object.release());
}

Target read_target(GetBackend backend, const tn_target* from) {
  require(from, "target: expected one, got null");
  const tn_target target = read_struct(from);
  Target out;
  out.device = device_of(target.device);
  if (target.name) out.name = target.name;
  out.properties = out.device ? &out.device->properties() : backend().target(out.name);
  if (!out.properties) {
    throw Failure(TN_ERROR_NOT_FOUND,
                  fmt::format("target: expected one known, got \"{}\"", out.name));
  }
  return out;
}

/// Verifies a program. Returns an error, or "".
std::string check_program(const tn_program* program) {
  if (!program) return "program: expected one, got null";
  return verify_program(program, program->total_size);
}

void deliver(tn_sink sink, void* user, const void* bytes, size_t size) {
  require(sink, "sink: expected a function, got null");
  sink(user, bytes, size);
}

const tn_memory_space& space_of(tn_device* device, uint32_t space, const char* message) {
  const tn_properties& p = device_of(device)->properties();
  require(space < p.memory_space_count, message);
  return *row_at(p.memory_spaces, p.memory_space_stride, space);
}

int32_t memory_allocate(tn_device* device, uint32_t space, uint64_t size, tn_memory** out,
                        tn_error* error) {
  return guarded(error, [&] {
    require(device && out, "memory_allocate: expected a device and out_memory, got null");
    const uint64_t largest =
        space_of(device, space, "memory_allocate: expected a memory space of the device").largest;
    require(size > 0, "memory_allocate: expected a size above 0");
    if (largest && size > largest) {
      throw Failure(
          TN_ERROR_OUT_OF_MEMORY,
          fmt::format("memory_allocate: expected at most {} bytes, got {}", largest, size));
    }
    hand_out(out, device_of(device)->allocate(space, size));
  });
}

int32_t memory_import(tn_device* device, uint32_t space, void* pointer, uint64_t size,
                      tn_memory** out, tn_error* error) {
  return guarded(error, [&] {
    require(device && out && pointer, "memory_import: expected a device, memory and out_memory");
    const uint32_t flags =
        space_of(device, space, "memory_import: expected a memory space of the device").flags;
    require(size > 0, "memory_import: expected a size above 0");
    if (!(flags & TN_MEMORY_IMPORT)) {
      throw Failure(TN_ERROR_UNSUPPORTED,
                    fmt::format("memory_import: memory space {} takes no host memory", space));
    }
    hand_out(out, device_of(device)->import_host(space, pointer, size));
  });
}

int32_t memory_map(tn_memory* memory, uint64_t offset, uint64_t size, void** out, tn_error* error) {
  return guarded(error, [&] {
    require(memory && out, "memory_map: expected memory and out_pointer, got null");
    const uint64_t whole = memory_of(memory)->size();
    require(offset <= whole && size <= whole - offset, "memory_map: expected a range of the slab");
    *out = memory_of(memory)->map(offset, size);
  });
}

int32_t memory_unmap(tn_memory* memory, tn_error* error) {
  return guarded(error, [&] {
    require(memory, "memory_unmap: expected memory, got null");
    memory_of(memory)->unmap();
  });
}

int32_t executable_text(tn_executable* executable, uint32_t kind, tn_sink sink, void* user,
                        tn_error* error) {
  return guarded(error, [&] {
    require(executable, "executable_text: expected an executable, got null");
    require(kind == TN_TEXT_SOURCE || kind == TN_TEXT_ASSEMBLY,
            "executable_text: expected kind 1 or 2");
    const std::string text = executable_of(executable)->text(static_cast<tn_text_kind>(kind));
    deliver(sink, user, text.data(), text.size());
  });
}

int32_t executable_save(tn_executable* executable, tn_sink sink, void* user, tn_error* error) {
  return guarded(error, [&] {
    require(executable, "executable_save: expected an executable, got null");
    const std::vector<std::byte> bytes = executable_of(executable)->save();
    deliver(sink, user, bytes.data(), bytes.size());
  });
}

int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  return guarded(error, [&] {
    require(device && submission, "submit: expected a device and a submission, got null");
    const Submission view(submission);
    view.check();
    device_of(device)->submit(view);
  });
}

int32_t timeline_create(tn_device* device, uint64_t value, tn_timeline** out, tn_error* error) {
  return guarded(error, [&] {
    require(device && out, "timeline_create: expected a device and out_timeline, got null");
    hand_out(out, device_of(device)->make_timeline(value));
  });
}

int32_t timeline_wait(tn_timeline* timeline, uint64_t value, uint64_t timeout_ns, tn_error* error) {
  return guarded(error, [&] {
    require(timeline, "timeline_wait: expected a timeline, got null");
    timeline_of(timeline)->wait(value, timeout_ns);
  });
}

int32_t timeline_query(tn_timeline* timeline, uint64_t* out_value, tn_error* error) {
  return guarded(error, [&] {
    require(timeline && out_value, "timeline_query: expected a timeline and out_value, got null");
    *out_value = timeline_of(timeline)->query();
  });
}

int32_t timeline_signal(tn_timeline* timeline, uint64_t value, tn_error* error) {
  return guarded(error, [&] {
    require(timeline, "timeline_signal: expected a timeline, got null");
    timeline_of(timeline)->signal(value);
  });
}

}  // namespace

int32_t device_enumerate(GetBackend backend, uint32_t capacity, uint32_t stride,
                         tn_device_info* infos, uint32_t reason_capacity, char* reason,
                         uint32_t* out_count, tn_error* error) {
  return guarded(error, [&] {
    require(out_count, "device_enumerate: expected out_count, got null");
    require(capacity == 0 || (infos && stride >= sizeof(tn_chain::struct_size)),
            "device_enumerate: expected room for infos and their stride");
    std::string why;
    const std::vector<tn_device_info> found = backend().enumerate(why);
    for (uint32_t i = 0; i < capacity && i < found.size(); ++i) {
      auto* to = const_cast<tn_device_info*>(row_at(infos, stride, i));
      write_struct(to, found[i]);
    }
    if (reason) copy_text(reason, reason_capacity, why);
    *out_count = static_cast<uint32_t>(found.size());
  });
}

int32_t device_open(GetBackend backend, uint32_t index, const char* options, tn_device** out_device,
                    tn_error* error) {
  return guarded(error, [&] {
    require(out_device, "device_open: expected out_device, got null");
    std::string reason;
    const size_t count = backend().enumerate(reason).size();
    if (index >= count) {
      throw Failure(TN_ERROR_NOT_FOUND,
                    fmt::format("device_open: expected an index below {}, got {}", count, index));
    }
    Options parsed(options ? options : "");
    std::unique_ptr<Device> device = backend().open(index, parsed);
    parsed.require_all_taken();
    hand_out(out_device, std::move(device));
  });
}

int32_t properties(GetBackend backend, const tn_target* target,
                   const tn_properties** out_properties, tn_error* error) {
  return guarded(error, [&] {
    require(out_properties, "properties: expected out_properties, got null");
    *out_properties = read_target(backend, target).properties;
  });
}

int32_t supports(GetBackend backend, const tn_target* target, const tn_program* program,
                 uint32_t capacity, char* reason) {
  const FloatState floats;
  try {
    std::string why = check_program(program);
    int32_t answer = TN_SUPPORT_NO;
    if (why.empty()) {
      const Target to = read_target(backend, target);
      const ProgramView view(program);
      why = exceeds_properties(view, *to.properties);
      if (why.empty()) answer = backend().supports(to, view, why);
    }
    if (reason) copy_text(reason, capacity, why);
    return answer;
  } catch (...) {
    tn_error error = TN_INIT(tn_error);
    report_exception(&error);
    if (reason) copy_text(reason, capacity, error.message);
    return TN_SUPPORT_NO;
  }
}

int32_t compile(GetBackend backend, const tn_target* target, const tn_program* program,
                tn_compile_report* report, tn_executable** out_executable, tn_error* error) {
  return guarded(error, [&] {
    require(out_executable, "compile: expected out_executable, got null");
    const auto start = std::chrono::steady_clock::now();
    if (auto e = check_program(program); !e.empty()) throw Failure(TN_ERROR_INVALID_ARGUMENT, e);
    const Target to = read_target(backend, target);
    const ProgramView view(program);
    std::string why = exceeds_properties(view, *to.properties);
    if (!why.empty() || backend().supports(to, view, why) == TN_SUPPORT_NO) {
      throw Failure(TN_ERROR_UNSUPPORTED, why);
    }
    tn_compile_report filled = TN_INIT(tn_compile_report);
    std::unique_ptr<Executable> executable = backend().compile(to, view, filled);
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - start;
    if (filled.compile_ns == 0) filled.compile_ns = static_cast<uint64_t>(spent.count());
    hand_out(out_executable, std::move(executable));
    if (report) write_struct(report, filled);
  });
}

int32_t executable_load(GetBackend backend, const tn_target* target, const void* bytes, size_t size,
                        tn_executable** out_executable, tn_error* error) {
  return guarded(error, [&] {
    require(out_executable && bytes, "executable_load: expected bytes and out_executable");
    const Target to = read_target(backend, target);
    hand_out(out_executable, backend().load(to, {static_cast<const std::byte*>(bytes), size}));
  });
}

const void* get_extension(GetBackend backend, const char* id) {
  const void* out = nullptr;
  guarded(nullptr, [&] { out = id ? backend().extension(id) : nullptr; });
  return out;
}

void fill(tn_plugin& plugin, const BackendInfo& info) {
  plugin.abi_version = TN_ABI_VERSION;
  plugin.program_min = 1;
  plugin.program_max = TN_PROGRAM_VERSION;
  plugin.priority = info.priority;
  plugin.backend = info.name;
  plugin.version = info.version;
  plugin.license = info.license;
  plugin.device_close = [](tn_device* device) { delete device_of(device); };
  plugin.memory_allocate = memory_allocate;
  plugin.memory_free = [](tn_memory* memory) { delete memory_of(memory); };
  plugin.memory_map = memory_map;
  plugin.memory_unmap = memory_unmap;
  plugin.executable_destroy = [](tn_executable* executable) { delete executable_of(executable); };
  plugin.executable_text = executable_text;
  plugin.executable_save = executable_save;
  plugin.submit = submit;
  plugin.timeline_create = timeline_create;
  plugin.timeline_destroy = [](tn_timeline* timeline) { delete timeline_of(timeline); };
  plugin.timeline_wait = timeline_wait;
  plugin.timeline_query = timeline_query;
  plugin.timeline_signal = timeline_signal;
  plugin.memory_import = memory_import;
}

bool negotiate(const BackendInfo& info, uint32_t abi_min, uint32_t abi_max, tn_error* error) {
  if (abi_min <= TN_ABI_VERSION && abi_max >= TN_ABI_VERSION) return true;
  try {
    write_error(error, TN_ERROR_INCOMPATIBLE,
                fmt::format("{}: speaks ABI {} to {}, the host asked for {} to {}", info.name,
                            TN_ABI_VERSION, TN_ABI_VERSION, abi_min, abi_max));
  } catch (...) {
    report_exception(error);
  }
  return false;
}

}  // namespace tenon::sdk::table
