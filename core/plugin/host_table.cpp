// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callbacks for plugins. No exception leaves them.
#include <cstdlib>
#include <new>

#include "core/plugin/library.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

void host_log(void*, int32_t level, const char* message) {
  if (!message) return;
  try {
    if (level <= TN_LOG_WARNING) {
      log_warning(message);
    } else {
      TN_LOG("plugin", "{}", message);
    }
  } catch (...) {  // drop the log line rather than crash
  }
}

void* host_allocate(void*, size_t size, size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
  return ::operator new(size, std::align_val_t(alignment), std::nothrow);
}

void host_release(void*, void* pointer, size_t, size_t alignment) {
  ::operator delete(pointer, std::align_val_t(alignment));
}

void host_trace(void*, const char* name, uint64_t begin_ns, uint64_t end_ns) {
  try {
    TN_LOG("trace", "{} took {} ns", name ? name : "?", end_ns - begin_ns);
  } catch (...) {
  }
}

constexpr tn_host make_host() {
  tn_host host{};
  host.struct_size = sizeof(tn_host);
  host.abi_version = TN_ABI_VERSION;
  host.name = "tenon";
  host.log = host_log;
  host.allocate = host_allocate;
  host.release = host_release;
  host.trace = host_trace;
  return host;
}

constexpr tn_host kHost = make_host();

}  // namespace

const tn_host& host_table() { return kHost; }

}  // namespace tenon
