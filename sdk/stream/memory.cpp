// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocates, pins, frees.
#include "sdk/stream/memory.hpp"

#include <functional>
#include <utility>

namespace tenon::sdk {
namespace {

/// A slab with its free function.
class OwnedMemory : public StreamMemory {
 public:
  using Free = int (*)(const StreamApi&, uint64_t address, void* host, ApiStream*);
  OwnedMemory(std::shared_ptr<StreamContext> context, uint64_t address, uint64_t size, void* host,
              ApiStream* stream, Free free)
      : StreamMemory(std::move(context), address, size, host), stream_(stream), free_(free) {}
  ~OwnedMemory() override {
    if (const ActiveDevice active = context_->activate_to_destroy()) {
      free_(context_->api(), address(), host_, stream_);
    }
  }

 private:
  ApiStream* stream_;
  Free free_;
};

/// Calls `undo` in its destructor unless finished.
class Rollback {
 public:
  explicit Rollback(std::function<void()> undo) : undo_(std::move(undo)) {}
  ~Rollback() {
    if (undo_) undo_();
  }
  void done() { undo_ = nullptr; }

 private:
  std::function<void()> undo_;
};

std::unique_ptr<StreamMemory> own(const std::shared_ptr<StreamContext>& context, uint64_t address,
                                  uint64_t size, void* host, ApiStream* stream,
                                  OwnedMemory::Free free) {
  Rollback rollback([&] { free(context->api(), address, host, stream); });
  auto memory = std::make_unique<OwnedMemory>(context, address, size, host, stream, free);
  rollback.done();
  return memory;
}

std::unique_ptr<StreamMemory> own_pinned(const std::shared_ptr<StreamContext>& context, void* host,
                                         uint64_t size, OwnedMemory::Free free) {
  uint64_t address = 0;
  Rollback rollback([&] { free(context->api(), 0, host, nullptr); });
  context->check(context->api().host_device_address(&address, host, 0), "pinned address");
  rollback.done();
  return own(context, address, size, host, nullptr, free);
}

}  // namespace

void* StreamMemory::map(uint64_t offset, uint64_t) {
  if (!host_) {
    throw Failure(TN_ERROR_UNSUPPORTED, "memory_map: expected memory that the host sees");
  }
  if (const auto lost = context_->lost()) throw Failure(*lost);
  return host_ + offset;
}

std::unique_ptr<StreamMemory> allocate_device_memory(const std::shared_ptr<StreamContext>& context,
                                                     uint64_t size, ApiStream* stream) {
  const ActiveDevice active = context->activate();
  const StreamApi& api = context->api();
  uint64_t address = 0;
  if (!stream) {
    context->check(api.memory_allocate(&address, size), "memory_allocate");
    return own(
        context, address, size, nullptr, nullptr,
        [](const StreamApi& a, uint64_t at, void*, ApiStream*) { return a.memory_free(at); });
  }
  context->check(api.memory_allocate_async(&address, size, stream), "memory_allocate");
  auto memory = own(context, address, size, nullptr, stream,
                    [](const StreamApi& a, uint64_t at, void*, ApiStream* s) {
                      return a.memory_free_async(at, s);
                    });
  // Other streams may use it only after the allocation has completed.
  context->check(api.stream_synchronize(stream), "memory_allocate");
  return memory;
}

std::unique_ptr<StreamMemory> allocate_pinned_memory(const std::shared_ptr<StreamContext>& context,
                                                     uint64_t size) {
  const ActiveDevice active = context->activate();
  void* host = nullptr;
  context->check(context->api().host_allocate(&host, size, kApiHostPortable | kApiHostMapped),
                 "memory_allocate");
  return own_pinned(context, host, size, [](const StreamApi& a, uint64_t, void* at, ApiStream*) {
    return a.host_free(at);
  });
}

std::unique_ptr<StreamMemory> import_host_memory(const std::shared_ptr<StreamContext>& context,
                                                 void* pointer, uint64_t size) {
  const ActiveDevice active = context->activate();
  context->check(context->api().host_register(pointer, size, kApiHostPortable | kApiHostMapped),
                 "memory_import");
  return own_pinned(context, pointer, size, [](const StreamApi& a, uint64_t, void* at, ApiStream*) {
    return a.host_unregister(at);
  });
}

}  // namespace tenon::sdk
