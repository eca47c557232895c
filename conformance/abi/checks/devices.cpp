// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of enumeration, opening, and what a device declares.
#include <cstring>
#include <set>
#include <string>

#include "conformance/abi/canary.hpp"
#include "conformance/abi/checks/check.hpp"

namespace tenon::conformance::abi::checks {
namespace {

int32_t enumerate(const CheckContext& c, uint32_t capacity, uint32_t stride, tn_device_info* infos,
                  uint32_t& count) {
  tn_error error = abi_struct<tn_error>();
  const int32_t status =
      c.table().device_enumerate(capacity, stride, infos, 0, nullptr, &count, &error);
  expect_ok(status, error, "device_enumerate");
  return status;
}

std::vector<tn_device_info> all_infos(const CheckContext& c) {
  std::vector<tn_device_info> infos(c.subject.devices, abi_struct<tn_device_info>());
  uint32_t count = 0;
  enumerate(c, c.subject.devices, sizeof(tn_device_info), infos.data(), count);
  expect(count == c.subject.devices, "device_enumerate: expected {} devices as before, got {}",
         c.subject.devices, count);
  return infos;
}

void enumerate_capacity(const CheckContext& c) {
  uint32_t count = 0;
  enumerate(c, 0, sizeof(tn_device_info), nullptr, count);
  expect(count == c.subject.devices,
         "device_enumerate: expected the whole number {} with a capacity of 0, got {}",
         c.subject.devices, count);
  char reason[3] = {'x', 'x', 'x'};
  expect(c.table().device_enumerate(0, 0, nullptr, 1, reason, &count, nullptr) == TN_OK,
         "device_enumerate: expected TN_OK with error null");
  expect(reason[1] == 'x', "device_enumerate: expected 1 byte of reason, got more");
  // Room for one more than there are, spaced widely: the last one and the gaps stay as they are.
  constexpr uint32_t kStride = sizeof(tn_device_info) + 40;
  for (const uint32_t room : {c.subject.devices, c.subject.devices - 1}) {
    std::vector<unsigned char> bytes(size_t{kStride} * (c.subject.devices + 1), 0xC7);
    const auto row = [&](uint32_t i) {
      return reinterpret_cast<tn_device_info*>(bytes.data() + size_t{i} * kStride);
    };
    for (uint32_t i = 0; i <= c.subject.devices; ++i) {
      const tn_device_info blank = abi_struct<tn_device_info>();
      std::memcpy(static_cast<void*>(row(i)), &blank, sizeof blank);
    }
    const std::vector<unsigned char> before = bytes;
    enumerate(c, room, kStride, row(0), count);
    expect(count == c.subject.devices, "device_enumerate: expected a count of {}, got {}",
           c.subject.devices, count);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool outside = i / kStride >= room || i % kStride >= sizeof(tn_device_info);
      expect(!outside || bytes[i] == before[i],
             "device_enumerate: expected {} infos {} bytes apart, got byte {} changed", room,
             kStride, i);
    }
  }
}

void enumerate_short(const CheckContext& c) {
  constexpr uint32_t kSizes[] = {16,
                                 20,
                                 24,
                                 offsetof(tn_device_info, uuid),
                                 offsetof(tn_device_info, driver),
                                 offsetof(tn_device_info, target),
                                 sizeof(tn_device_info) + 64};
  for (const uint32_t size : kSizes) {
    Canary<tn_device_info> info(size);
    uint32_t count = 0;
    enumerate(c, 1, size, info.get(), count);
    info.expect_intact("device_enumerate");
    expect(info.get()->struct_size == size,
           "device_enumerate: expected struct_size {} left as the caller set it, got {}", size,
           info.get()->struct_size);
  }
}

/// Infos whose rows are further apart than any struct.
void enumerate_apart(const CheckContext& c) {
  const auto first = all_infos(c);
  for (const uint32_t stride : {uint32_t{sizeof(tn_device_info)} + 264, 65'544u}) {
    std::vector<uint8_t> rows(size_t{stride} * first.size(), 0xAB);
    const auto info_at = [&](size_t i) {
      return reinterpret_cast<tn_device_info*>(rows.data() + i * stride);
    };
    for (size_t i = 0; i < first.size(); ++i) *info_at(i) = abi_struct<tn_device_info>();
    uint32_t count = 0;
    enumerate(c, static_cast<uint32_t>(first.size()), stride, info_at(0), count);
    for (size_t i = 0; i < first.size(); ++i)
      expect(is_same(first[i], *info_at(i)),
             "device_enumerate with {} bytes from one info to the next: expected device {} as "
             "before, got something else",
             stride, i);
  }
}

void enumerate_stable(const CheckContext& c) {
  const auto first = all_infos(c);
  { const OpenDevice device = c.open(); }
  const auto second = all_infos(c);
  for (size_t i = 0; i < first.size(); ++i)
    expect(is_same(first[i], second[i]),
           "device_enumerate: expected device {} as before, got something else", i);
}

template <size_t N>
void check_text(const char (&text)[N], const char* field, uint32_t i, bool may_be_empty) {
  const size_t length = strnlen(text, N);
  expect(length < N, "device {}: expected {} with a NUL in its {} bytes, got none", i, field, N);
  expect(may_be_empty || length > 0, "device {}: expected a {}, got an empty text", i, field);
}

void info_strings(const CheckContext& c) {
  const auto infos = all_infos(c);
  for (uint32_t i = 0; i < infos.size(); ++i) {
    check_text(infos[i].name, "name", i, false);
    check_text(infos[i].driver, "driver", i, true);
    check_text(infos[i].target, "target", i, true);
    expect(infos[i].kind >= TN_DEVICE_CPU && infos[i].kind <= TN_DEVICE_STORAGE,
           "device {}: expected a kind from 1 to 4, got {}", i, infos[i].kind);
  }
}

void unknown_option(const CheckContext& c) {
  tn_error error = abi_struct<tn_error>();
  tn_device* opened = nullptr;
  const std::string options =
      c.subject.options + (c.subject.options.empty() ? "" : ",") + "no_such_option_is_known=1";
  const int32_t status = c.table().device_open(c.subject.index, options.c_str(), &opened, &error);
  if (status == TN_OK && opened) c.table().device_close(opened);
  expect(status == TN_ERROR_INVALID_ARGUMENT,
         "device_open: expected TN_ERROR_INVALID_ARGUMENT for an unknown option, got {}",
         status == TN_OK ? "TN_OK" : status_text(status));
  expect(!opened, "device_open: expected no device after an error, got one");
  expect(fixed_string(error.message).find("no_such_option") != std::string::npos,
         "device_open: expected a message that names the option, got \"{}\"",
         fixed_string(error.message));
}

void open_twice(const CheckContext& c) {
  const OpenDevice first = c.open();
  const MemoryHandle kept = any_memory(first, 64);
  const std::vector<uint8_t> bytes(64, 0x5E);
  first.write(kept.get(), 0, 0, bytes);
  for (int round = 0; round < 3; ++round) {
    const OpenDevice second = c.open();
    const MemoryHandle other = any_memory(second, 64);
    second.write(other.get(), 0, 0, std::vector<uint8_t>(64, 0x77));
  }
  std::vector<uint8_t> got(64);
  first.read(kept.get(), 0, 0, got);
  expect(got == bytes, "device_close: expected memory of another handle untouched, got it changed");
}

bool is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

void check_limits(const tn_properties& p) {
  expect(p.index_bits == 32 || p.index_bits == 64,
         "properties: expected index_bits 32 or 64, got {}", p.index_bits);
  expect(p.accuracy == TN_ACCURACY_STRICT || p.accuracy == TN_ACCURACY_RELAXED,
         "properties: expected accuracy 1 or 2, got {}", p.accuracy);
  expect(p.subgroup_min <= p.subgroup_max,
         "properties: expected subgroup_min <= subgroup_max, got {} and {}", p.subgroup_min,
         p.subgroup_max);
  expect(p.subgroup_max != 0 || !(p.flags & TN_DEVICE_SUBGROUP_BARRIER),
         "properties: expected subgroups as TN_DEVICE_SUBGROUP_BARRIER is claimed, got none");
  expect(p.storage_bytes <= 4 && (p.storage_bytes == 0 || is_power_of_two(p.storage_bytes)),
         "properties: expected storage_bytes 0, 1, 2 or 4, got {}", p.storage_bytes);
}

void check_dtypes(const OpenDevice& device) {
  const tn_properties& p = device.properties();
  std::set<uint32_t> seen;
  for (uint32_t i = 0; i < p.dtype_count; ++i) {
    const tn_dtype_caps row = abi_element(p.dtypes, p.dtype_stride, i);
    expect(seen.insert(row.dtype).second, "properties: expected each dtype once, got {} twice",
           row.dtype);
    expect(!(row.flags & TN_DTYPE_ARITHMETIC) || (row.flags & TN_DTYPE_STORAGE),
           "properties: expected storage of dtype {} as arithmetic is claimed, got none",
           row.dtype);
  }
  if (device.computes())
    expect(!seen.empty(), "properties: expected dtypes of a device that computes, got none");
}

void check_spaces(const OpenDevice& device) {
  const size_t count = device.spaces().size();
  for (size_t s = 0; s < count; ++s) {
    const tn_memory_space& space = device.spaces()[s];
    expect(is_power_of_two(space.alignment),
           "memory space {}: expected an alignment that is a power of two, got {}", s,
           space.alignment);
    expect(space.total == 0 || space.largest <= space.total,
           "memory space {}: expected largest <= total {}, got {}", s, space.total, space.largest);
    expect(count >= 32 || space.copy_from < (uint64_t{1} << count),
           "memory space {}: expected copy_from among {} spaces, got {:#x}", s, count,
           space.copy_from);
  }
  if (device.computes())
    expect(device.spaces()[0].flags & TN_MEMORY_DEVICE,
           "memory space 0: expected one that kernels reach, as buffers go there, got flags {}",
           device.spaces()[0].flags);
}

void properties_sane(const CheckContext& c) {
  const OpenDevice device = c.open();
  if (device.computes()) check_limits(device.properties());
  check_dtypes(device);
  check_spaces(device);
}

void properties_stable(const CheckContext& c) {
  const OpenDevice device = c.open();
  const tn_target target = device.target();
  const tn_properties* again = nullptr;
  tn_error error = abi_struct<tn_error>();
  expect_ok(c.table().properties(&target, &again, &error), error, "properties");
  const auto without_addresses = [](tn_properties p) {
    p.next = nullptr;
    p.dtypes = nullptr;
    p.memory_spaces = nullptr;
    p.matrix_atoms = nullptr;
    return p;
  };
  const tn_properties first = without_addresses(device.properties());
  const tn_properties second = without_addresses(abi_read(again));
  expect(std::memcmp(&second, &first, sizeof second) == 0,
         "properties: expected the same on each call, got another answer");
  const auto without_reading = [&] {  // what the pointer that was handed out shows now
    const tn_properties now = abi_read(again);
    std::vector<std::vector<uint8_t>> out;
    const auto take = [&](const void* rows, uint32_t count, uint32_t stride) {
      const auto* bytes = static_cast<const uint8_t*>(rows);
      out.emplace_back(bytes, bytes + size_t{count} * stride);
    };
    take(again, 1, again->struct_size);
    take(now.dtypes, now.dtype_count, now.dtype_stride);
    take(now.memory_spaces, now.memory_space_count, now.memory_space_stride);
    take(now.matrix_atoms, now.matrix_atom_count, now.matrix_atom_stride);
    return out;
  };
  const auto before = without_reading();
  {
    const OpenDevice other = c.open();
    expect(other.properties().flags == device.properties().flags,
           "properties: expected the same flags for each handle of a device");
  }
  expect(without_reading() == before,
         "properties: expected them as long as the device is open, got others after another handle "
         "was closed");
}

void unknown_target(const CheckContext& c) {
  tn_target target = abi_struct<tn_target>();
  for (const char* name : {"no-such-target-is-known", ""}) {
    target.name = name;
    const tn_properties* properties = nullptr;
    tn_error error = abi_struct<tn_error>();
    const int32_t status = c.table().properties(&target, &properties, &error);
    expect(status == TN_ERROR_NOT_FOUND,
           "properties: expected TN_ERROR_NOT_FOUND for the target \"{}\", got {}", name,
           status == TN_OK ? "TN_OK" : status_text(status));
    expect(!properties, "properties: expected nothing written after an error");
  }
}

}  // namespace

std::span<const CheckRow> device_checks() {
  static constexpr CheckRow kRows[] = {
      {"enumerate_capacity", enumerate_capacity, 21},
      {"enumerate_short", enumerate_short, 8},
      {"enumerate_apart", enumerate_apart, 8},
      {"enumerate_stable", enumerate_stable, 21},
      {"info_strings", info_strings, 21},
      {"unknown_option", unknown_option, 22},
      {"open_twice", open_twice, 62},
      {"properties_sane", properties_sane, 27},
      {"properties_stable", properties_stable, 27},
      {"unknown_target", unknown_target, 42},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
