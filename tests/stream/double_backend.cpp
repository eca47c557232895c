// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The double as a plugin, for tests of the core on lost devices.
#include "tests/stream/double.hpp"

namespace tenon::sdk {
namespace {

class DoubleBackend : public StreamBackend {
 public:
  static constexpr BackendInfo kInfo = {"double", "1", "Apache-2.0 WITH LLVM-exception"};
  DoubleBackend() : StreamBackend(double_platform(), "1") {}
};

}  // namespace
}  // namespace tenon::sdk

TENON_BACKEND(tenon::sdk::DoubleBackend)
