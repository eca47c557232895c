// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The HIP backend.
#include "plugins/hip/platform.hpp"

namespace tenon::hip {

class HipBackend : public sdk::StreamBackend {
 public:
  static constexpr sdk::BackendInfo kInfo = {"hip", TENON_VERSION,
                                             "Apache-2.0 WITH LLVM-exception"};
  HipBackend()
      : StreamBackend(
            {[]() -> std::unique_ptr<sdk::StreamVendor> { return std::make_unique<Driver>(); },
             open_compiler, platform_dialect, platform_atoms},
            TENON_VERSION) {}
};

}  // namespace tenon::hip

TENON_BACKEND(tenon::hip::HipBackend)
