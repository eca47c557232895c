// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/compiled_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tenon::sdk {

void* compiled_library(const std::string& compiler, const std::string& file,
                       const std::string& source, const std::string& inputs) {
  std::string folder = (std::filesystem::temp_directory_path() / "tenon-test-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("mkdtemp failed");
  std::ofstream(folder + "/" + file) << source;
  const std::string command =
      fmt::format("exec {0} -shared -fPIC -o {1}/k.so {1}/{2} {3} > {1}/log 2>&1", compiler, folder,
                  file, inputs);
  const int status = std::system(command.c_str());
  std::stringstream log;
  log << std::ifstream(folder + "/log").rdbuf();
  void* library = status == 0 ? dlopen((folder + "/k.so").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!std::getenv("TENON_KEEP_SOURCES")) std::filesystem::remove_all(folder);
  if (!library) throw std::runtime_error(log.str().substr(0, 4000));
  return library;
}

ArgumentPointers::ArgumentPointers(std::span<const plugin_test::Argument> arguments)
    : scalars_(arguments.size()) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    scalars_[i] = arguments[i].scalar;
    pointers_.push_back(arguments[i].bytes ? static_cast<void*>(arguments[i].bytes->data())
                                           : &scalars_[i]);
  }
}

}  // namespace tenon::sdk
