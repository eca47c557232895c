// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a tn_error of any struct_size.
#include "sdk/support/failure.hpp"

#include <new>

namespace tenon::sdk {

void copy_text(char* to, size_t capacity, std::string_view text) noexcept {
  if (capacity == 0 || !to) return;
  const size_t size = std::min(text.size(), capacity - 1);
  if (size) std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

int32_t write_error(tn_error* error, int32_t code, const std::string& message,
                    int32_t vendor_code) noexcept {
  if (!error) return code;
  const size_t size = error->struct_size;
  if (size >= offsetof(tn_error, code) + sizeof error->code) error->code = code;
  if (size >= offsetof(tn_error, vendor_code) + sizeof error->vendor_code) {
    error->vendor_code = vendor_code;
  }
  constexpr size_t kMessage = offsetof(tn_error, message);
  if (size > kMessage) {
    copy_text(error->message, std::min(size - kMessage, sizeof error->message), message);
  }
  return code;
}

int32_t report_exception(tn_error* error) noexcept {
  try {
    throw;
  } catch (const Failure& e) {
    return write_error(error, e.code(), e.what(), e.vendor_code());
  } catch (const std::bad_alloc&) {
    return write_error(error, TN_ERROR_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& e) {
    return write_error(error, TN_ERROR_INTERNAL, e.what());
  } catch (...) {
    return write_error(error, TN_ERROR_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace tenon::sdk
