// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of HIP, from hip_runtime_api.h, and the backend.
#include "plugins/hip/driver.hpp"

#include <fmt/format.h>

namespace tenon::hip {
namespace {

enum : int { kMemcpyDefault = 4, kErrorPeerAccessAlreadyEnabled = 704 };

}  // namespace

sdk::StreamAttributes Driver::attributes() const {
  sdk::StreamAttributes numbers = {};  // hipDeviceAttribute_t
  numbers.l2_bytes = 19;
  numbers.block = 26;
  numbers.grid = 29;
  numbers.threads = 56;
  numbers.compute_units = 63;
  numbers.shared_bytes = 74;
  numbers.subgroup = 87;
  numbers.memory_pools = 88;
  return numbers;
}

int Driver::enter(uint32_t device, int& before) {
  const int code = hip_.get_device(&before);
  return code != 0 ? code : hip_.set_device(static_cast<int>(device));
}

int Driver::copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) {
  return hip_.copy(to, from, size, kMemcpyDefault, stream);
}

bool Driver::enable_peer(uint32_t, uint32_t peer) {
  const int status = hip_.enable_peer(static_cast<int>(peer), 0);
  return status == 0 || status == kErrorPeerAccessAlreadyEnabled;
}

std::string Driver::describe(int code) const {
  return fmt::format("{} ({}): {}", hip_.error_name(code), code, hip_.error_text(code));
}

class HipBackend : public sdk::StreamBackend {
 public:
  static constexpr sdk::BackendInfo kInfo = {"hip", TENON_VERSION,
                                             "Apache-2.0 WITH LLVM-exception"};
  HipBackend() : StreamBackend(platform(), TENON_VERSION) {}
};

}  // namespace tenon::hip

TENON_BACKEND(tenon::hip::HipBackend)
