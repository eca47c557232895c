// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dlopen, slabs, one submission.
#include "tests/sdk/plugin_host.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "sdk/program/text.hpp"

namespace tenon::sdk {

PluginHost::PluginHost(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (!library) throw std::runtime_error(dlerror());
  const auto query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
  if (!query) throw std::runtime_error("no tn_plugin_query");
  plugin_ = query(nullptr, 1, TN_ABI_VERSION, &error);
  if (!plugin_) throw std::runtime_error(error.message);
  check(plugin_->device_open(0, nullptr, &device_, &error));
}

PluginHost::~PluginHost() {
  if (device_) plugin_->device_close(device_);
}

void PluginHost::check(int32_t status) {
  if (status != TN_OK) throw std::runtime_error(error.message);
}

tn_executable* PluginHost::compile(const Program& program) {
  tn_target target = TN_INIT(tn_target);
  target.device = device_;
  tn_executable* executable = nullptr;
  check(plugin_->compile(&target, program.get(), nullptr, &executable, &error));
  return executable;
}

void PluginHost::run(tn_executable* executable, const Program& program,
                     std::array<uint32_t, 3> grid, std::span<const TestArgument> arguments) {
  std::vector<tn_argument> bound;
  for (const TestArgument& from : arguments) {
    tn_argument to = {};
    to.kind = from.bytes ? TN_ARGUMENT_BUFFER : TN_ARGUMENT_SCALAR;
    to.scalar = from.scalar;
    if (from.bytes && !from.bytes->empty()) {
      to.size = from.bytes->size();
      void* mapped = nullptr;
      check(plugin_->memory_allocate(device_, 0, to.size, &to.memory, &error));
      check(plugin_->memory_map(to.memory, 0, to.size, &mapped, &error));
      std::memcpy(mapped, from.bytes->data(), to.size);
      check(plugin_->memory_unmap(to.memory, &error));
    }
    bound.push_back(to);
  }
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_LAUNCH;
  command.executable = executable;
  std::copy(grid.begin(), grid.end(), command.grid);
  std::copy_n(program.get()->workgroup, 3, command.block);
  std::fill_n(command.cluster, 3, 1u);
  command.argument_count = static_cast<uint32_t>(bound.size());
  command.argument_stride = sizeof(tn_argument);
  command.arguments = bound.data();
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = 1;
  submission.command_stride = sizeof(tn_command);
  submission.commands = &command;
  const int32_t status = plugin_->submit(device_, &submission, &error);
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i].memory) continue;
    void* mapped = nullptr;
    check(plugin_->memory_map(bound[i].memory, 0, bound[i].size, &mapped, &error));
    std::memcpy(arguments[i].bytes->data(), mapped, bound[i].size);
    check(plugin_->memory_unmap(bound[i].memory, &error));
    plugin_->memory_free(bound[i].memory);
  }
  check(status);
}

void PluginHost::run(const Program& program, std::array<uint32_t, 3> grid,
                     std::span<const TestArgument> arguments) {
  const std::unique_ptr<tn_executable, void (*)(tn_executable*)> executable(
      compile(program), plugin_->executable_destroy);
  run(executable.get(), program, grid, arguments);
}

std::string null_plugin() {
  return std::string(TENON_BINARY_DIR) + "/lib/tenon-examples/libtenon_null.so";
}

Program parsed(std::string_view text) {
  std::string message;
  Program program = parse_program(text, message);
  if (program.empty()) throw std::runtime_error(message);
  return program;
}

}  // namespace tenon::sdk
