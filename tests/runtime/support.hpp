// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime's tests share: where plugins lie, folders that vanish, contexts on a device.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/runtime/runtime.hpp"
#include "core/support/error.hpp"
#include "sdk/program/builder.hpp"
#include "sdk/program/command.hpp"

namespace tenon::test {

namespace fs = std::filesystem;

inline fs::path plugin_file(const std::string& backend) {
  const fs::path build(TENON_BINARY_DIR);
  const std::string name = "libtenon_" + backend + ".so";
  for (const char* folder :
       {"test-plugins/runtime", "test-plugins/limited", "lib/tenon-examples", "lib/tenon"})
    if (fs::exists(build / folder / name)) return build / folder / name;
  return build / "lib" / "tenon" / name;
}

/// A fresh folder, removed at the end of the scope.
struct TempFolder {
  fs::path path;
  TempFolder() {
    static std::atomic<int> number{0};
    const fs::path memory = "/dev/shm";  // thousands of small files are written
    path = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
           ("tenon_runtime_" + std::to_string(getpid()) + "_" + std::to_string(number++));
    fs::create_directories(path);
    fs::permissions(path, fs::perms::owner_all);  // as a cache wants it
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
};

inline void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A context on given devices, without environment, disk cache and probe.
inline RuntimeOptions options_for(const std::string& devices, const std::string& backend) {
  RuntimeOptions options;
  options.devices = devices;
  options.plugins = {plugin_file(backend)};
  options.use_environment = false;
  options.disk_cache = false;
  options.probe = false;
  return options;
}

/// Those of null and cpu that were built.
inline std::vector<std::string> backends() {
  std::vector<std::string> found;
  for (const char* name : {"null", "cpu"})
    if (fs::exists(plugin_file(name))) found.emplace_back(name);
  if (found.empty()) throw std::runtime_error("expected the null or cpu plugin beside the tests");
  return found;
}

/// -2 to 4, over and over.
inline Array numbers(DType dtype, std::vector<int64_t> shape) {
  Array array = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of(dtype, static_cast<double>(i % 7) - 2));
  return array;
}

/// What `action` throws, or "" if it does not.
template <class F>
std::string error_of(F&& action, ErrorKind* kind = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (kind) *kind = error.kind();
    return error.what();
  }
  return "";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::vector<uint8_t> contents(const BufferRef& buffer) {
  std::vector<uint8_t> bytes(buffer->size());
  buffer->device().read(*buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

inline BufferRef filled(Device& device, uint64_t size, uint8_t byte) {
  BufferRef buffer = device.allocate(size, "test");
  const std::vector<uint8_t> bytes(size, byte);
  device.write(*buffer, 0, bytes.data(), size);
  return buffer;
}

inline std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// A program that stores 0 into its one buffer; the fake plugin goes by the name.
inline sdk::Program named_program(const std::string& name) {
  sdk::ProgramBuilder builder(name);
  const auto out = builder.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE, 1);
  const auto zero = builder.constant(TN_DTYPE_I64, 0);
  const auto value = builder.constant(TN_DTYPE_I32, 0);
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, zero, value});
  return builder.finish();
}

/// Launches an executable with one buffer.
inline void launch(const ExecutableRef& executable, const BufferRef& buffer) {
  const tn_argument argument =
      sdk::buffer_argument(buffer->memory(), buffer->offset(), buffer->size());
  executable->device->submit({sdk::launch_command(executable->handle, {}, {}, {&argument, 1})},
                             std::vector<BufferRef>{buffer});
}

}  // namespace tenon::test
