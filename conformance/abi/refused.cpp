// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/refused.hpp"

#include <cstddef>
#include <cstring>

#include "conformance/abi/canary.hpp"

namespace tenon::conformance::abi {
namespace refused {
namespace {

constexpr uint32_t kCode = offsetof(tn_error, code), kMessage = offsetof(tn_error, message);
constexpr uint32_t kSizes[] = {
    sizeof(tn_error), kCode,        kCode + 4,     kMessage,
    kMessage + 1,     kMessage + 2, kMessage + 32, sizeof(tn_error) + 64};

/// What was there before is neither a code nor a message of the plugin.
tn_error stale() {
  tn_error error{};
  error.code = -1;
  error.vendor_code = -1;
  std::memset(error.message, 'x', sizeof error.message);
  return error;
}

void expect_filled(const char* name, int32_t status, uint32_t size, const tn_error& error) {
  if (size >= kCode + 4)
    expect(error.code == status, "{}: expected {} as the code in tn_error, got {}", name, status,
           error.code);
  if (size <= kMessage) return;
  const size_t room = std::min<size_t>(size - kMessage, sizeof error.message);
  expect(strnlen(error.message, room) < room,
         "{}: expected a NUL inside the {} bytes for the message, got none", name, room);
  expect(room == 1 || error.message[0],
         "{}: expected a sentence in tn_error with {}, got an empty one", name, text_of(status));
}

}  // namespace

std::string text_of(int32_t status) {
  return status == TN_OK ? "TN_OK" : std::string(status_text(status));
}

int32_t with_each_error(const char* name, const std::function<int32_t(tn_error*)>& call) {
  const int32_t first = call(nullptr);
  if (first == TN_OK) return first;
  for (const uint32_t size : kSizes) {
    Canary<tn_error> error(size, stale());
    const int32_t status = call(error.get());
    if (status == TN_OK) return status;
    error.expect_intact(name);
    expect_filled(name, status, size, *error.get());
    expect(status == first, "{}: expected {} each time, got {}", name, text_of(first),
           text_of(status));
  }
  return first;
}

}  // namespace refused

int32_t expect_refused(const char* name, const std::function<int32_t(tn_error*)>& call) {
  const int32_t status = refused::with_each_error(name, [&](tn_error* error) {
    const int32_t answer = call(error);
    if (answer == TN_ERROR_DEVICE_LOST) throw Lost{name};
    return answer;
  });
  expect(status != TN_OK, "{}: expected it refused, got TN_OK", name);
  return status;
}

void expect_reason(std::string_view reason, const char* of) {
  const size_t end = reason.find('\0');
  expect(end != reason.npos, "supports: expected a sentence with a NUL for NO of {}, got none", of);
  expect(end > 0 && reason[0] != kNoReason,
         "supports: expected a sentence for NO of {}, got an empty text", of);
}

}  // namespace tenon::conformance::abi
