// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/sparse_host.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "conformance/abi/counting_host.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi {
namespace {

std::atomic<const char*> called = nullptr;

constexpr tn_host make_host(bool is_old) {
  tn_host host{};
  host.struct_size = is_old ? offsetof(tn_host, log) : sizeof(tn_host);
  host.abi_version = TN_ABI_VERSION;
  host.name = "tenon-conformance";
  if (!is_old) return host;
  host.log = [](void*, int32_t, const char*) { called = "log"; };
  host.allocate = [](void*, size_t size, size_t) {
    called = "allocate";
    return std::malloc(size);
  };
  host.release = [](void*, void* pointer, size_t, size_t) {
    called = "release";
    std::free(pointer);
  };
  host.trace = [](void*, const char*, uint64_t, uint64_t) { called = "trace"; };
  return host;
}

constexpr tn_host kOld = make_host(true), kBare = make_host(false);

}  // namespace

const tn_host& host_of(std::string_view form) {
  if (form == "whole") return counting_host();
  if (form == "old") return kOld;
  TN_REQUIRE(form == "bare", "[api] expected a host that is whole, old or bare, got \"{}\"", form);
  return kBare;
}

std::string called_beyond() {
  const char* name = called;
  return name ? name : "";
}

}  // namespace tenon::conformance::abi
