// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/plugin/device.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "sdk/program/text.hpp"

namespace tenon::plugin_test {
namespace {

/// Calls with a tn_error as the last argument; throws what it says.
template <class Call>
void checked(Call&& call) {
  tn_error error = TN_INIT(tn_error);
  require_ok(call(&error), error);
}

/// What a function of the table makes.
template <class T, class Make>
Owned<T> made(void (*destroy)(T*), Make&& make) {
  T* object = nullptr;
  checked([&](tn_error* error) { return make(&object, error); });
  return {object, destroy};
}

}  // namespace

void require_ok(int32_t status, const tn_error& error) {
  if (status != TN_OK) throw CallFailed(status, error.message);
}

const tn_plugin& load_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  const auto query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
  if (!query) throw std::runtime_error(path + ": no tn_plugin_query");
  tn_error error = TN_INIT(tn_error);
  const tn_plugin* table = query(nullptr, 1, TN_ABI_VERSION, &error);
  if (!table) throw std::runtime_error(path + ": " + error.message);
  return *table;
}

std::string no_device(const tn_plugin& plugin) {
  char reason[512] = "";
  uint32_t count = 0;
  checked([&](tn_error* error) {
    return plugin.device_enumerate(0, 0, nullptr, sizeof reason, reason, &count, error);
  });
  return count ? "" : reason;
}

Memory::Memory(const Device& device, uint64_t size, uint32_t space)
    : device_(device),
      size_(size),
      space_(space),
      memory_(made<tn_memory>(device.plugin().memory_free, [&](tn_memory** out, tn_error* error) {
        return device.plugin().memory_allocate(device.get(), space, size, out, error);
      })) {}

bool Memory::is_visible() const {
  return device_.properties().memory_spaces[space_].flags & TN_MEMORY_HOST_VISIBLE;
}

unsigned char* Memory::map(uint64_t offset, uint64_t size) const {
  void* pointer = nullptr;
  checked([&](tn_error* error) {
    return device_.plugin().memory_map(memory_, offset, size, &pointer, error);
  });
  return static_cast<unsigned char*>(pointer);
}

void Memory::unmap() const {
  checked([&](tn_error* error) { return device_.plugin().memory_unmap(memory_, error); });
}

void Memory::write(uint64_t offset, std::span<const unsigned char> bytes) const {
  if (bytes.empty()) return;
  if (!is_visible()) {
    const Memory staging(device_, bytes.size(), 1);
    staging.write(0, bytes);
    return device_.run({sdk::copy_command(memory_, offset, staging, 0, bytes.size())});
  }
  std::ranges::copy(bytes, map(offset, bytes.size()));
  unmap();
}

Bytes Memory::read(uint64_t offset, uint64_t size) const {
  if (size == 0) return {};
  if (!is_visible()) {
    const Memory staging(device_, size, 1);
    device_.run({sdk::copy_command(staging, 0, memory_, offset, size)});
    return staging.read();
  }
  const unsigned char* from = map(offset, size);
  Bytes bytes(from, from + size);
  unmap();
  return bytes;
}

Timeline::Timeline(const Device& device, uint64_t value)
    : plugin_(device.plugin()),
      timeline_(made<tn_timeline>(plugin_.timeline_destroy, [&](tn_timeline** out, tn_error* e) {
        return plugin_.timeline_create(device.get(), value, out, e);
      })) {}

int32_t Timeline::wait(uint64_t value, uint64_t timeout_ns) const {
  tn_error error = TN_INIT(tn_error);
  const int32_t status = plugin_.timeline_wait(timeline_, value, timeout_ns, &error);
  message = error.message;
  return status;
}
int32_t Timeline::query(uint64_t& value) const {
  return plugin_.timeline_query(timeline_, &value, nullptr);
}
int32_t Timeline::signal(uint64_t value) const {
  return plugin_.timeline_signal(timeline_, value, nullptr);
}

Device::Device(const tn_plugin& plugin, const char* options, uint32_t index)
    : plugin_(plugin),
      device_(made<tn_device>(plugin.device_close, [&](tn_device** out, tn_error* error) {
        return plugin.device_open(index, options, out, error);
      })) {}

tn_target Device::target() const {
  tn_target target = TN_INIT(tn_target);
  target.device = device_;
  return target;
}

const tn_properties& Device::properties() const {
  const tn_properties* properties = nullptr;
  const tn_target to = target();
  checked([&](tn_error* error) { return plugin_.properties(&to, &properties, error); });
  return *properties;
}

Executable Device::compile(const sdk::Program& program, tn_compile_report* report) const {
  const tn_target to = target();
  return made<tn_executable>(plugin_.executable_destroy, [&](tn_executable** out, tn_error* e) {
    return plugin_.compile(&to, program.get(), report, out, e);
  });
}

std::string Device::save(tn_executable* executable) const {
  std::string bytes;
  checked([&](tn_error* error) {
    return plugin_.executable_save(executable, append_text, &bytes, error);
  });
  return bytes;
}

Executable Device::load(std::string_view bytes) const {
  const tn_target to = target();
  return made<tn_executable>(plugin_.executable_destroy, [&](tn_executable** out, tn_error* e) {
    return plugin_.executable_load(&to, bytes.data(), bytes.size(), out, e);
  });
}

std::string Device::text(tn_executable* executable, uint32_t kind) const {
  std::string text;
  checked([&](tn_error* error) {
    return plugin_.executable_text(executable, kind, append_text, &text, error);
  });
  return text;
}

int32_t Device::submit(std::span<const tn_command> commands, std::span<const tn_point> waits,
                       std::span<const tn_point> signals, std::string* message) const {
  const tn_submission submission = sdk::submission_of(commands, waits, signals);
  tn_error error = TN_INIT(tn_error);
  const int32_t status = plugin_.submit(device_, &submission, &error);
  if (message) *message = error.message;
  return status;
}

void Device::run(std::span<const tn_command> commands) const {
  std::string message;
  int32_t status = TN_OK;
  if (properties().flags & TN_DEVICE_ASYNC) {
    const Timeline done(*this);
    const tn_point signal = done.at(1);
    status = submit(commands, {}, {&signal, 1}, &message);
    if (status == TN_OK && (status = done.wait(1)) != TN_OK) message = done.message;
  } else {
    status = submit(commands, {}, {}, &message);
  }
  if (status != TN_OK) throw CallFailed(status, message);
}

void Device::run(tn_executable* executable, const sdk::Extent& grid, const sdk::Extent& block,
                 std::span<const Argument> arguments) const {
  std::vector<tn_argument> bound;
  std::vector<std::unique_ptr<Memory>> memories;
  for (const Argument& argument : arguments) {
    const uint64_t size = argument.bytes ? argument.bytes->size() : 0;
    auto& memory = memories.emplace_back(size ? std::make_unique<Memory>(*this, size) : nullptr);
    if (memory) memory->write(0, *argument.bytes);
    bound.push_back(argument.bytes ? sdk::buffer_argument(memory ? memory->get() : nullptr, 0, size)
                                   : sdk::scalar_argument(argument.scalar));
  }
  run({sdk::launch_command(executable, grid, block, bound)});
  for (size_t i = 0; i < memories.size(); ++i)
    if (memories[i]) *arguments[i].bytes = memories[i]->read();
}

void Device::run(const sdk::Program& program, const sdk::Extent& grid,
                 std::span<const Argument> arguments) const {
  const uint32_t* block = program.get()->workgroup;
  run(compile(program), grid, {block[0], block[1], block[2]}, arguments);
}

void append_text(void* user, const void* bytes, size_t size) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
}

tn_target named_target(const char* name) {
  tn_target target = TN_INIT(tn_target);
  target.name = name;
  return target;
}

sdk::Program parsed(std::string_view text) {
  std::string message;
  sdk::Program program = sdk::parse_program(text, message);
  if (program.empty()) throw std::runtime_error(message);
  return program;
}

}  // namespace tenon::plugin_test
