// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/files.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/support/error.hpp"

namespace tenon::conformance {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    fail(ErrorKind::kEnvironment, "[file] expected to write {}, and could not", path.string());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail(ErrorKind::kInvalid, "[file] expected a file that can be read, got {}", path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

uint64_t resident_bytes(const std::string& process) {
  uint64_t size = 0, resident = 0;
  std::ifstream("/proc/" + process + "/statm") >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tenon::conformance
