// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "conformance/selftest/plugin/device.hpp"
#include "conformance/selftest/plugin/slow_down.hpp"
#include "sdk/backend/check_support.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::planted {
namespace {

constexpr size_t kMostSaved = 1 << 16, kLongText = 4096;

const tn_plugin* sound = nullptr;
std::atomic<const tn_host*> caller = nullptr;
std::atomic<Variant> opened_variant{Variant::none};  ///< of the last device

bool is(Variant variant) { return opened_variant == variant; }

int32_t device_open(uint32_t index, const char* options, tn_device** out, tn_error* error) {
  rounding_of_opener = std::fegetround();
  const int32_t status = sound->device_open(index, options, out, error);
  const tn_host* host = caller;
  if (status == TN_OK)
    opened_variant = static_cast<PlantedDevice*>(sdk::device_of(*out))->variant();
  if (status == TN_OK && is(Variant::old_host) && host && host->log)
    host->log(host->user, TN_LOG_DEBUG, "planted: a device is open");
  if (status != TN_OK && is(Variant::option_cut) && error && options &&
      error->struct_size >= sizeof *error) {
    const std::string text = fmt::format("option {:.31}: not known", options);
    text.copy(error->message, sizeof error->message - 1);
    error->message[text.size()] = 0;
  }
  if (status != TN_OK && is(Variant::prints_refusal)) std::puts("planted: cannot open the device");
  return status;
}

int32_t memory_map(tn_memory* memory, uint64_t offset, uint64_t size, void** out, tn_error* error) {
  unseen_submissions = 0;
  if (!is(Variant::map_of_another)) return sound->memory_map(memory, offset, size, out, error);
  static std::atomic<void*> latest;
  void* pointer = nullptr;
  const int32_t status = sound->memory_map(memory, offset, size, &pointer, error);
  if (status != TN_OK) return status;
  latest = pointer;
  std::this_thread::yield();
  *out = latest;
  return status;
}

int32_t memory_unmap(tn_memory* memory, tn_error* error) {
  const int32_t status = sound->memory_unmap(memory, error);
  if (is(Variant::rounding_on_unmap)) std::fesetround(FE_UPWARD);
  return status;
}

/// Goes through a null pointer for an op that it has no function for.
void follow_null(const tn_target* target, const tn_program* program) {
  if (!target || !program || !sdk::verify_program(program, program->total_size).empty()) return;
  const sdk::Device* device = sdk::device_of(sdk::read_struct(target).device);
  if (!device || static_cast<const PlantedDevice*>(device)->variant() != Variant::crash_unsupported)
    return;
  if (sdk::exceeds_properties(sdk::ProgramView(program), device->properties()).empty()) return;
  void (*volatile code)() = nullptr;
  code();
}

int32_t compile(const tn_target* target, const tn_program* program, tn_compile_report* report,
                tn_executable** out, tn_error* error) {
  follow_null(target, program);
  if (is(Variant::slow_answers)) slow_down();
  const int32_t status = sound->compile(target, program, report, out, error);
  if (status != TN_OK && is(Variant::locale_on_refusal)) std::setlocale(LC_ALL, "C.UTF-8");
#if defined(__x86_64__)
  if (is(Variant::x87_precision)) {
    const uint16_t control = 0x27f;
    asm volatile("fldcw %0" : : "m"(control));
  }
#endif
  return status;
}

/// Properties by handle, as they were handed out.
std::map<tn_device*, tn_properties>& handed_out() {
  static std::map<tn_device*, tn_properties> all;
  return all;
}

int32_t properties(const tn_target* target, const tn_properties** out, tn_error* error) {
  const int32_t status = sound->properties(target, out, error);
  if (status != TN_OK || !is(Variant::properties_closed)) return status;
  const auto kept = handed_out().insert_or_assign(sdk::read_struct(target).device, **out).first;
  *out = &kept->second;
  return status;
}

void device_close(tn_device* device) {
  if (is(Variant::properties_closed)) {
    handed_out().erase(device);
    for (auto& [other, fields] : handed_out()) fields.dtype_count = fields.memory_space_count = 0;
  }
  sound->device_close(device);
}

LaunchState& state_of(tn_executable* executable) {
  return static_cast<const PlantedExecutable*>(sdk::executable_of(executable))->state();
}

/// A sink before another: all calls copy to one buffer first.
struct Pieces {
  tn_sink sink;
  void* user;

  static void take(void* self, const void* bytes, size_t size) {
    static char buffer[256];
    const auto& [to_sink, to_user] = *static_cast<Pieces*>(self);
    for (size_t at = 0; at < size; at += sizeof buffer) {
      const size_t piece = std::min(sizeof buffer, size - at);
      std::memcpy(buffer, static_cast<const char*>(bytes) + at, piece);
      if (is(Variant::texts_in_pieces)) std::this_thread::yield();
      to_sink(to_user, buffer, piece);
    }
  }
};

int32_t executable_text(tn_executable* executable, uint32_t kind, tn_sink sink, void* user,
                        tn_error* error) {
  Pieces pieces{sink, user};
  const int32_t status =
      is(Variant::texts_in_pieces)
          ? sound->executable_text(executable, kind, Pieces::take, &pieces, error)
          : sound->executable_text(executable, kind, sink, user, error);
  if (is(Variant::locale_of_long_text)) {
    size_t size = 0;
    const tn_sink add = [](void* sum, const void*, size_t bytes) {
      *static_cast<size_t*>(sum) += bytes;
    };
    sound->executable_text(executable, kind, add, &size, nullptr);
    if (size >= kLongText) std::setlocale(LC_ALL, "C.UTF-8");
  }
  if (is(Variant::text_takes_code)) state_of(executable).is_told = true;
  if (is(Variant::directory_for_text) && chdir("/") != 0) return TN_ERROR_IO;
  if (is(Variant::locale_of_text)) std::setlocale(LC_ALL, "C");
  return status;
}

std::vector<uint8_t>& last_saved() {
  static std::vector<uint8_t> bytes;
  return bytes;
}

uint32_t checksum(std::span<const uint8_t> bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) sum ^= uint32_t{bytes[i]} << (i % 4 * 8);
  return sum;
}

int32_t executable_save(tn_executable* executable, tn_sink sink, void* user, tn_error* error) {
  Pieces pieces{sink, user};
  const int32_t status = is(Variant::saves_in_pieces)
                             ? sound->executable_save(executable, Pieces::take, &pieces, error)
                             : sound->executable_save(executable, sink, user, error);
  if (is(Variant::saved_xor)) {
    std::vector<uint8_t>& bytes = last_saved();
    bytes.clear();
    const tn_sink add = [](void* all, const void* data, size_t size) {
      const auto* begin = static_cast<const uint8_t*>(data);
      static_cast<std::vector<uint8_t>*>(all)->insert(last_saved().end(), begin, begin + size);
    };
    sound->executable_save(executable, add, &bytes, nullptr);
  }
  if (is(Variant::saved_keeps_scalars)) state_of(executable).is_saved = true;
  if (is(Variant::signal_on_save)) signal(SIGCHLD, SIG_IGN);
  return status;
}

int32_t executable_load(const tn_target* target, const void* bytes, size_t size,
                        tn_executable** out, tn_error* error) {
  if (is(Variant::saved_64k) && size > kMostSaved) size = kMostSaved;
  int32_t status = sound->executable_load(target, bytes, size, out, error);
  for (size_t less = 1; is(Variant::loads_longer) && status != TN_OK && less < size && less < 64;
       ++less)
    status = sound->executable_load(target, bytes, size - less, out, error);
  const std::span<const uint8_t> given(static_cast<const uint8_t*>(bytes), size);
  if (status != TN_OK && is(Variant::saved_xor) && size == last_saved().size() &&
      checksum(given) == checksum(last_saved()))
    status = sound->executable_load(target, last_saved().data(), size, out, error);
  if (status != TN_OK && is(Variant::file_on_damage))
    (void)open("/dev/null", O_RDONLY | O_CLOEXEC);  // NOLINT: left open
#if defined(__x86_64__)
  if (is(Variant::flush_on_load)) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  return status;
}

int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  static const int first = std::fegetround();
  const int32_t status = sound->submit(device, submission, error);
  if (is(Variant::first_rounding)) std::fesetround(first);
  return status;
}

/// Others that wait meanwhile sleep as long as they may.
int32_t wait_alone(tn_timeline* timeline, uint64_t value, uint64_t timeout, tn_error* error) {
  static std::atomic<tn_timeline*> waited;
  tn_timeline* nobody = nullptr;
  if (timeout == UINT64_MAX || timeout == 0)
    return sound->timeline_wait(timeline, value, timeout, error);
  if (!waited.compare_exchange_strong(nobody, timeline)) {
    if (nobody == timeline) std::this_thread::sleep_for(std::chrono::nanoseconds(timeout));
    return sound->timeline_wait(timeline, value, nobody == timeline ? 0 : timeout, error);
  }
  const int32_t status = sound->timeline_wait(timeline, value, timeout, error);
  waited = nullptr;
  return status;
}

int32_t timeline_wait(tn_timeline* timeline, uint64_t value, uint64_t timeout, tn_error* error) {
  const int32_t status = (is(Variant::wait_wakes_one) ? wait_alone : sound->timeline_wait)(
      timeline, value, timeout, error);
  if (status == TN_ERROR_TIMEOUT && is(Variant::mask_on_timeout)) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  }
  return status;
}

}  // namespace

void remember_host(const tn_host* host) { caller = host; }

tn_plugin with_planted_calls(const tn_plugin& plain) {
  sound = &plain;
  tn_plugin own = plain;
  own.device_open = device_open;
  own.device_close = device_close;
  own.properties = properties;
  own.memory_map = memory_map;
  own.memory_unmap = memory_unmap;
  own.compile = compile;
  own.executable_text = executable_text;
  own.executable_save = executable_save;
  own.executable_load = executable_load;
  own.timeline_wait = timeline_wait;
  own.submit = submit;
  return own;
}

}  // namespace tenon::planted
