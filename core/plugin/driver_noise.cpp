// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/driver_noise.hpp"

#include <fmt/format.h>

#include <cstdlib>

#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace tenon {

void quiet_drivers() {
#if !defined(_WIN32)
  setenv("XDG_RUNTIME_DIR", fmt::format("/run/user/{}", geteuid()).c_str(), /*overwrite=*/0);
#endif
}

}  // namespace tenon
