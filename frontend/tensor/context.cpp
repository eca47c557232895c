// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The public Context over the core's Runtime.
#include "tenon/context.hpp"

#include "core/support/error.hpp"
#include "core/support/process.hpp"
#include "frontend/tensor/pins.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {

Context::Context(ContextOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {
  impl_->life->impl = impl_;
}

Context::~Context() {
  if (impl_.use_count() == 0) return;  // Impl::self, which owns nothing
  impl_->life->store(nullptr);
  unpin(*impl_);
}

Context& Context::standard() {
  // Never destroyed, as static objects may come here late. Its devices are closed
  // (core/device/process_end.hpp).
  const ForkHold hold;  // before the lock of what is made once
  static Context* const context = new Context();
  return context->impl_->self;
}

std::vector<std::string> Context::device_ids() const { return impl_->runtime.device_ids(); }

DeviceInfo Context::device(const std::string& id) {
  const Device& device = impl_->runtime.device(id);
  const Capabilities& can = device.capabilities();
  DeviceInfo info;
  info.id = device.id();
  info.name = device.info().name;
  info.compute = can.compute;
  info.compute_units = can.compute_units;
  info.vector_bytes = can.vector_bytes;
  info.bytes_in_use = device.bytes_in_use();
  info.bytes_reserved = device.bytes_reserved();
  return info;
}

std::vector<Array> Context::run(const Function& function, const std::vector<Array>& inputs,
                                const SymbolValues& symbols, const std::string& device,
                                RunStats* stats) {
  return impl_->runtime.run(function.graph(), inputs, symbols, device, stats);
}

void Context::add_rules(std::string_view text, std::string_view origin) {
  impl_->runtime.add_rules(text, origin);
}

std::vector<KernelInfo> Context::kernels() { return impl_->runtime.kernels(); }

KernelProfile Context::profile() const { return impl_->runtime.profile(); }

void Context::set_transforms(const std::string& kernel, std::string_view transforms) {
  impl_->runtime.set_transforms(kernel, transforms);
}

void Context::set_program(const std::string& kernel, std::string_view program,
                          const std::array<int64_t, 3>& workgroups) {
  impl_->runtime.set_program(kernel, program, workgroups);
}

void Context::reset_kernel(const std::string& kernel) { impl_->runtime.reset_kernel(kernel); }

}  // namespace tenon
