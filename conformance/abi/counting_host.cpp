// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin that was loaded by the core has allocated from the core's table before, so memory comes
// from there, and pointers that are not known here are the core's.
#include "conformance/abi/counting_host.hpp"

#include <map>
#include <mutex>

#include "core/plugin/library.hpp"

namespace tenon::conformance::abi {
namespace {

struct Block {
  size_t size = 0, alignment = 0;
};

struct State {
  std::mutex mutex;
  std::map<void*, Block> live;
  HostCounts counts;
  int64_t until_refusal = 0;
  bool refused = false;
};

State& state() {
  static auto* const instance = new State;  // plugins outlive what is static
  return *instance;
}

void* allocate(void*, size_t size, size_t alignment) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.counts.allocations;
  if (s.until_refusal > 0) {
    if (s.until_refusal == 1) {
      s.refused = true;
      return nullptr;
    }
    --s.until_refusal;
  }
  void* pointer = host_table().allocate(nullptr, size, alignment);
  if (!pointer) return nullptr;
  s.live[pointer] = {size, alignment};
  ++s.counts.live;
  s.counts.live_bytes += static_cast<int64_t>(size);
  return pointer;
}

void release(void*, void* pointer, size_t size, size_t alignment) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (const auto at = s.live.find(pointer); at != s.live.end()) {
    if (at->second.size != size || at->second.alignment != alignment) ++s.counts.wrong_releases;
    --s.counts.live;
    s.counts.live_bytes -= static_cast<int64_t>(at->second.size);
    alignment = at->second.alignment;
    s.live.erase(at);
  }
  host_table().release(nullptr, pointer, size, alignment);
}

constexpr tn_host make_host() {
  tn_host host{};
  host.struct_size = sizeof(tn_host);
  host.abi_version = TN_ABI_VERSION;
  host.name = "tenon-conformance";
  host.log = [](void*, int32_t, const char*) {};
  host.allocate = allocate;
  host.release = release;
  host.trace = [](void*, const char*, uint64_t, uint64_t) {};
  return host;
}

constexpr tn_host kHost = make_host();

}  // namespace

const tn_host& counting_host() { return kHost; }

HostCounts host_counts() {
  const std::lock_guard lock(state().mutex);
  return state().counts;
}

void fail_host_allocations(int64_t n) {
  const std::lock_guard lock(state().mutex);
  state().until_refusal = n;
  state().refused = false;
}

bool host_refused() {
  const std::lock_guard lock(state().mutex);
  return state().refused;
}

}  // namespace tenon::conformance::abi
