// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/status.hpp"

#include "core/plugin/abi_struct.hpp"

namespace tenon {

ErrorKind error_kind(int32_t status) {
  switch (status) {
    case TN_ERROR_INVALID_ARGUMENT:
      return ErrorKind::kInvalid;
    case TN_ERROR_OUT_OF_MEMORY:
      return ErrorKind::kOutOfMemory;
    case TN_ERROR_UNSUPPORTED:
      return ErrorKind::kUnsupported;
    case TN_ERROR_DEVICE_LOST:
      return ErrorKind::kDeviceLost;
    case TN_ERROR_NOT_FOUND:
    case TN_ERROR_IO:
    case TN_ERROR_INCOMPATIBLE:
      return ErrorKind::kEnvironment;
    default:  // unknown codes of a newer plugin
      return ErrorKind::kInternal;
  }
}

const char* status_text(int32_t status) {
  switch (status) {
    case TN_OK:
      return "ok";
    case TN_ERROR_INVALID_ARGUMENT:
      return "invalid argument";
    case TN_ERROR_OUT_OF_MEMORY:
      return "out of memory";
    case TN_ERROR_UNSUPPORTED:
      return "unsupported";
    case TN_ERROR_COMPILE_FAILED:
      return "compilation failed";
    case TN_ERROR_DEVICE_LOST:
      return "device lost";
    case TN_ERROR_TIMEOUT:
      return "timeout";
    case TN_ERROR_NOT_FOUND:
      return "not found";
    case TN_ERROR_IO:
      return "input or output error";
    case TN_ERROR_INCOMPATIBLE:
      return "incompatible";
    default:
      return "internal error";
  }
}

std::string error_message(int32_t status, const tn_error& error) {
  const std::string text = fixed_string(error.message);
  return text.empty() ? std::string(status_text(status)) : text;
}

void check_status(int32_t status, const tn_error& error, const char* what, const std::string& who) {
  if (status == TN_OK) return;
  throw Error(error_kind(status),
              fmt::format("[{}] {}: {}", what, who, error_message(status, error)));
}

}  // namespace tenon
