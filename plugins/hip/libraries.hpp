// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where ROCm's libraries are.
#pragma once

#include <initializer_list>

#include "sdk/helpers/shared_library.hpp"

namespace tenon::hip {

/// By the loader's rules, then below ROCM_PATH and /opt/rocm.
inline std::vector<std::string> versions(const char* name,
                                         std::initializer_list<const char*> suffixes) {
  std::vector<std::string> folders = sdk::folder_of_variable("ROCM_PATH", "lib");
  folders.push_back("/opt/rocm/lib");
  return sdk::library_names(name, suffixes, folders);
}

}  // namespace tenon::hip
