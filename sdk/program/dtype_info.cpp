// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/dtype_info.hpp"

#include "sdk/program/view.hpp"

namespace tenon::sdk {
bool is_float(uint8_t dtype) { return dtype_info(dtype) && is_float(*dtype_info(dtype)); }
bool is_narrow_float(uint8_t dtype) { return is_float(dtype) && dtype_info(dtype)->bytes < 4; }
bool is_signed(uint8_t dtype) {
  return dtype_info(dtype) && dtype_info(dtype)->kind == DTypeClass::SIGNED;
}
bool is_integer(uint8_t dtype) { return dtype_info(dtype) && is_integer(*dtype_info(dtype)); }
bool is_usable(uint8_t dtype) { return dtype_info(dtype) != nullptr; }

uint8_t dtype_by_text(std::string_view text) {
  const auto* at = std::ranges::find(all_dtypes(), text, &DTypeInfo::text);
  return at == all_dtypes().end() ? uint8_t{TN_DTYPE_VOID} : at->dtype;
}

std::string_view dtype_text(uint8_t dtype) {
  return dtype_info(dtype) ? dtype_info(dtype)->text : "?";
}
uint32_t dtype_bytes(uint8_t dtype) { return dtype_info(dtype) ? dtype_info(dtype)->bytes : 0; }

}  // namespace tenon::sdk
