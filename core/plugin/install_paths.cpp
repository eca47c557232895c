// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/install_paths.hpp"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

namespace tenon {

namespace fs = std::filesystem;

fs::path core_file() {
  std::error_code error;
#if !defined(_WIN32)
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&core_file), &info) && info.dli_fname) {
    // For the main program dli_fname may be argv[0], so use /proc instead.
    fs::path file(info.dli_fname);
    if (file.extension() != ".so" && file.string().find(".so.") == std::string::npos) {
      const fs::path self = fs::read_symlink("/proc/self/exe", error);
      if (!error) file = self;
    }
    fs::path real = fs::canonical(file, error);
    if (!error) return real;
  }
#endif
  return {};
}

fs::path core_folder() { return core_file().parent_path(); }

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  if (const fs::path core = core_folder(); !core.empty()) {
    folders.push_back(core / "tenon");
    folders.push_back((core / ".." / "lib" / "tenon").lexically_normal());
  }
#if defined(TENON_INSTALL_PLUGIN_DIR)
  folders.emplace_back(TENON_INSTALL_PLUGIN_DIR);
#endif
  return folders;
}

fs::path probe_program() {
  const fs::path core = core_folder();
  if (core.empty()) return {};
  std::error_code error;
  for (const char* folder : {".", "../bin", "../libexec", "../../bin", "../../libexec"}) {
    fs::path file = (core / folder / "tenon-probe").lexically_normal();
    if (fs::is_regular_file(file, error)) return file;
  }
  return {};
}

}  // namespace tenon
