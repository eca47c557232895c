// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists the devices of a driver.
#include "sdk/stream/vendor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/backend/property_table.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {

ActiveDevice::ActiveDevice(StreamVendor& vendor, uint32_t device)
    : vendor_(vendor), code_(vendor.enter(device, before_)) {}

ActiveDevice::~ActiveDevice() {
  if (code_ == 0) vendor_.leave(before_);
}

int StreamVendor::version() const {
  int version = 0;
  check(api_.driver_version(&version), "driver version");
  return version;
}

std::vector<StreamDeviceFacts> StreamVendor::devices() const {
  int count = 0;
  check(api_.init(0), "init");
  check(api_.device_count(&count), "device count");
  std::vector<StreamDeviceFacts> found;
  for (int device = 0; device < count; ++device) {
    found.push_back(facts(static_cast<uint32_t>(device), driver_text(version())));
  }
  std::ranges::sort(found, {}, &StreamDeviceFacts::bus_id);
  return found;
}

StreamDeviceFacts StreamVendor::facts(uint32_t device, const std::string& driver) const {
  const int ordinal = static_cast<int>(device);
  char name[128] = {}, bus_id[64] = {};
  size_t memory = 0;
  check(api_.device_name(name, sizeof name, ordinal), "device name");
  check(api_.device_bus_id(bus_id, sizeof bus_id, ordinal), "device bus id");
  check(api_.device_memory(&memory, ordinal), "device memory");
  StreamDeviceFacts facts;
  const std::string code = target(device);
  facts.info = device_info(TN_DEVICE_GPU, name, code, driver);
  if (api_.device_uuid && api_.device_uuid(facts.info.uuid, ordinal) != 0) {
    std::ranges::fill(facts.info.uuid, uint8_t{0});
  }
  facts.bus_id = bus_id;
  facts.ordinal = device;
  facts.limits = read_limits(attributes(), limits(code),
                             [&](int number) { return attribute(number, device); });
  facts.limits.memory_bytes = memory;
  return facts;
}

bool StreamVendor::has_memory_pools(uint32_t device) const {
  return api_.memory_allocate_async && api_.memory_free_async &&
         attribute(attributes().memory_pools, device) != 0;
}

bool StreamVendor::reach_peer(uint32_t device, uint32_t peer) {
  int can = 0;
  const int code = api_.can_access_peer(&can, static_cast<int>(device), static_cast<int>(peer));
  return code == 0 && can != 0 && enable_peer(device, peer) && reach_pool(device, peer);
}

bool StreamVendor::reach_pool(uint32_t device, uint32_t peer) const {
  if (!has_memory_pools(peer)) return true;
  if (!api_.default_pool || !api_.pool_set_access) return false;
  ApiPool* pool = nullptr;
  ApiPoolAccess access;
  access.location = static_cast<int>(device);
  return api_.default_pool(&pool, static_cast<int>(peer)) == 0 &&
         api_.pool_set_access(pool, &access, 1) == 0;
}

int StreamVendor::attribute(int attribute, uint32_t device) const {
  int value = 0;
  const int code = api_.device_attribute(&value, attribute, static_cast<int>(device));
  return code == 0 ? value : 0;
}

void StreamVendor::check(int code, const char* what) const {
  if (code == 0) return;
  throw Failure(TN_ERROR_NOT_FOUND, fmt::format("{}: {}", what, describe(code)), code);
}

}  // namespace tenon::sdk
