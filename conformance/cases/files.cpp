// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/files.hpp"

#include <unistd.h>

#include <fstream>

#include "core/support/error.hpp"

namespace tenon::conformance {

std::string read_file(const std::filesystem::path& path) {
  try {
    return tenon::read_file(path);
  } catch (const Error& error) {
    fail(ErrorKind::kInvalid, "{}", error.what());  // of a file that the user named
  }
}

uint64_t resident_bytes(const std::string& process) {
  uint64_t size = 0, resident = 0;
  std::ifstream("/proc/" + process + "/statm") >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tenon::conformance
