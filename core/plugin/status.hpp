// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts status codes of the ABI to exceptions.
#pragma once

#include <string>

#include "core/support/error.hpp"
#include "tenon/plugin.h"

namespace tenon {

ErrorKind error_kind(int32_t status);
const char* status_text(int32_t status);  ///< "out of memory"; "internal error" for unknown codes

/// The message of the plugin, or the text of the code if there is none.
std::string error_message(int32_t status, const tn_error& error);

/// Throws for a status that is not TN_OK: "[what] cpu:0: sentence".
void check_status(int32_t status, const tn_error& error, const char* what, const std::string& who);

}  // namespace tenon
