// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of strangers made safe for HTML and XML.
#pragma once

#include <string>
#include <string_view>

#include "core/support/printable.hpp"

namespace tenon::conformance::report {

/// printable, with &, <, > and both quotes as HTML and XML want them.
std::string escape_markup(std::string_view text);

}  // namespace tenon::conformance::report
