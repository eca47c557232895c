// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <new>

#include "frontend/c/handles.hpp"

namespace tenon::c {
namespace {

thread_local std::string last_error;
thread_local bool had_no_memory = false;  ///< not even for the message

tenon_status keep(tenon_status status, const char* message) noexcept {
  try {
    last_error = message;
    had_no_memory = false;
  } catch (...) {
    had_no_memory = true;
  }
  return status;
}

}  // namespace

tenon_status code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return TENON_ERROR_INVALID;
    case ErrorKind::kUnsupported:
      return TENON_ERROR_UNSUPPORTED;
    case ErrorKind::kEnvironment:
      return TENON_ERROR_ENVIRONMENT;
    case ErrorKind::kOutOfMemory:
      return TENON_ERROR_OUT_OF_MEMORY;
    case ErrorKind::kDeviceLost:
      return TENON_ERROR_DEVICE_LOST;
    case ErrorKind::kInternal:
      break;
  }
  return TENON_ERROR_INTERNAL;
}

tenon_status failed(std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const Error& e) {
    return keep(code_of(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    return keep(TENON_ERROR_OUT_OF_MEMORY, "expected memory of the host, got none");
  } catch (const std::exception& e) {
    return keep(TENON_ERROR_INTERNAL, e.what());
  } catch (...) {
    return keep(TENON_ERROR_INTERNAL, "expected an error of Tenon, got another exception");
  }
}

void write_text(const char* call, std::string_view text, char* out, uint64_t capacity) {
  given(call, "out", out);
  if (capacity <= text.size())
    refuse("[{}] expected room for {} bytes, got {}", call, text.size() + 1, capacity);
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = 0;
}

void write_part(const char* call, std::string_view text, char* out, uint64_t capacity,
                uint64_t* length) {
  if (capacity > 0) {
    given(call, "out", out);
    const size_t size = std::min<size_t>(text.size(), capacity - 1);
    std::memcpy(out, text.data(), size);
    out[size] = 0;
  }
  if (length) *length = text.size();
}

}  // namespace tenon::c

const char* tenon_last_error(void) {
  return tenon::c::had_no_memory ? "expected memory of the host, got none"
                                 : tenon::c::last_error.c_str();
}

const char* tenon_version(void) { return TENON_VERSION; }
