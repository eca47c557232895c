// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/open_device.hpp"

#include <cstring>

#include "conformance/abi/refused.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi {

OpenDevice::OpenDevice(const Subject& subject, uint32_t index, const char* options)
    : subject_(subject) {
  tn_error error = abi_struct<tn_error>();
  tn_device* opened = nullptr;
  expect_ok(table().device_open(index, options, &opened, &error), error, "device_open");
  expect(opened, "device_open: expected a device, got TN_OK and null");
  handle_ = DeviceHandle(opened, {table().device_close});
  const tn_target target = this->target();
  const tn_properties* raw = nullptr;
  expect_ok(table().properties(&target, &raw, &error), error, "properties");
  expect(raw, "properties: expected some, got TN_OK and null");
  properties_ = abi_read(raw);
  for (uint32_t i = 0; i < properties_.memory_space_count; ++i)
    spaces_.push_back(abi_element(properties_.memory_spaces, properties_.memory_space_stride, i));
  for (uint32_t i = 0; i < properties_.dtype_count; ++i)
    dtypes_.push_back(abi_element(properties_.dtypes, properties_.dtype_stride, i));
  for (uint32_t i = 0; i < properties_.matrix_atom_count; ++i)
    atoms_.push_back(abi_element(properties_.matrix_atoms, properties_.matrix_atom_stride, i));
  expect(!spaces_.empty(), "properties: expected a memory space, got none");
}

uint32_t OpenDevice::dtype_flags(uint32_t dtype) const {
  for (const tn_dtype_caps& row : dtypes_)
    if (row.dtype == dtype) return row.flags;
  return 0;
}

std::optional<uint32_t> OpenDevice::window_to(uint32_t space) const {
  for (uint32_t s = 0; s < spaces_.size(); ++s)
    if (is_visible(s) && (spaces_[space].copy_from >> s & 1)) return s;
  return {};
}

std::optional<uint32_t> OpenDevice::window_from(uint32_t space) const {
  for (uint32_t s = 0; s < spaces_.size(); ++s)
    if (is_visible(s) && (spaces_[s].copy_from >> space & 1)) return s;
  return {};
}

MemoryHandle OpenDevice::allocate(uint32_t space, uint64_t size) const {
  tn_error error = abi_struct<tn_error>();
  tn_memory* memory = nullptr;
  const int32_t status = table().memory_allocate(handle(), space, size, &memory, &error);
  if (status == TN_ERROR_OUT_OF_MEMORY) return {};
  expect_ok(status, error, "memory_allocate");
  expect(memory, "memory_allocate: expected a slab, got TN_OK and null");
  return own(memory);
}

TimelineHandle OpenDevice::make_timeline(uint64_t value) const {
  tn_error error = abi_struct<tn_error>();
  tn_timeline* timeline = nullptr;
  expect_ok(table().timeline_create(handle(), value, &timeline, &error), error, "timeline_create");
  expect(timeline, "timeline_create: expected a timeline, got TN_OK and null");
  return TimelineHandle(timeline, {table().timeline_destroy});
}

tn_target OpenDevice::target() const {
  tn_target target = abi_struct<tn_target>();
  target.device = handle();
  return target;
}

CompileAnswer OpenDevice::compile(const tn_program& program) const {
  const tn_target target = this->target();
  std::string reason(512, kNoReason);
  // A block of these calls' own, which is overwritten when they have returned.
  sdk::Program block(&program, program.total_size);
  const int32_t promise =
      table().supports(&target, block.get(), static_cast<uint32_t>(reason.size()), reason.data());
  if (promise == TN_SUPPORT_NO) expect_reason(reason, "a program");
  tn_error error = abi_struct<tn_error>();
  tn_executable* made = nullptr;
  CompileAnswer answer;
  answer.status = table().compile(&target, block.get(), nullptr, &made, &error);
  std::memset(const_cast<tn_program*>(block.get()), 0xDD, block.size());
  answer.text = error_message(answer.status, error);
  if (answer.status == TN_ERROR_DEVICE_LOST) throw Lost{answer.text};
  if (answer.status != TN_OK) {
    if (promise != TN_SUPPORT_NO && answer.status != TN_ERROR_OUT_OF_MEMORY)
      find("support", "compile: supports said {}, compile answered {} ({})",
           promise == TN_SUPPORT_YES ? "YES" : "SLOW", status_text(answer.status), answer.text);
    expect(made == nullptr, "compile: expected no executable after an error, got one");
    return answer;
  }
  expect(made, "compile: expected an executable, got TN_OK and null");
  answer.executable = own(made);
  return answer;
}

void* OpenDevice::map(tn_memory* memory, uint64_t offset, uint64_t size) const {
  tn_error error = abi_struct<tn_error>();
  void* pointer = nullptr;
  expect_ok(table().memory_map(memory, offset, size, &pointer, &error), error, "memory_map");
  expect(pointer || size == 0, "memory_map: expected a pointer, got TN_OK and null");
  return pointer;
}

void OpenDevice::unmap(tn_memory* memory) const {
  tn_error error = abi_struct<tn_error>();
  expect_ok(table().memory_unmap(memory, &error), error, "memory_unmap");
}

void OpenDevice::submit(const tn_submission& submission) const {
  tn_error error = abi_struct<tn_error>();
  expect_ok(table().submit(handle(), &submission, &error), error, "submit");
}

void OpenDevice::wait(tn_timeline* timeline, uint64_t value) const {
  tn_error error = abi_struct<tn_error>();
  expect_ok(table().timeline_wait(timeline, value, UINT64_MAX, &error), error, "timeline_wait");
}

uint64_t OpenDevice::query(tn_timeline* timeline) const {
  tn_error error = abi_struct<tn_error>();
  uint64_t value = 0;
  expect_ok(table().timeline_query(timeline, &value, &error), error, "timeline_query");
  return value;
}

void OpenDevice::signal(tn_timeline* timeline, uint64_t value) const {
  tn_error error = abi_struct<tn_error>();
  expect_ok(table().timeline_signal(timeline, value, &error), error, "timeline_signal");
}

void OpenDevice::run(std::span<const tn_command> commands) const {
  tn_submission submission = submission_of(commands);
  if (!is_async()) return submit(submission);
  const TimelineHandle timeline = make_timeline(0);
  const tn_point signal{timeline.get(), 1};
  submission.signals = &signal;
  submission.signal_count = 1;
  submit(submission);
  wait(timeline.get(), 1);
}

void OpenDevice::read(tn_memory* memory, uint32_t space, uint64_t offset,
                      std::span<uint8_t> bytes) const {
  if (bytes.empty()) return;
  if (is_visible(space)) {
    std::memcpy(bytes.data(), map(memory, offset, bytes.size()), bytes.size());
    return unmap(memory);
  }
  const auto window = window_from(space);
  if (!window) throw NotThere{"memory that the host cannot reach"};
  const MemoryHandle staging = allocate(*window, bytes.size());
  if (!staging) throw NotThere{"no room for staging"};
  run(std::vector{copy_command(staging.get(), 0, memory, offset, bytes.size())});
  read(staging.get(), *window, 0, bytes);
}

void OpenDevice::write(tn_memory* memory, uint32_t space, uint64_t offset,
                       std::span<const uint8_t> bytes) const {
  if (bytes.empty()) return;
  if (is_visible(space)) {
    std::memcpy(map(memory, offset, bytes.size()), bytes.data(), bytes.size());
    return unmap(memory);
  }
  const auto window = window_to(space);
  if (!window) throw NotThere{"memory that the host cannot reach"};
  const MemoryHandle staging = allocate(*window, bytes.size());
  if (!staging) throw NotThere{"no room for staging"};
  write(staging.get(), *window, 0, bytes);
  run(std::vector{copy_command(memory, offset, staging.get(), 0, bytes.size())});
}

Unfinished::~Unfinished() {
  uint64_t left = 5'000'000'000;  // nanoseconds, for each until one has taken so long
  for (const tn_point& gate : gates_)
    device_.table().timeline_signal(gate.timeline, gate.value, nullptr);
  for (const tn_point& end : ends_)
    if (device_.table().timeline_wait(end.timeline, end.value, left, nullptr) == TN_ERROR_TIMEOUT)
      left = 0;
}

}  // namespace tenon::conformance::abi
