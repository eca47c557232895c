// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon.Error and its kinds, which are ValueError, TypeError, IndexError and RuntimeError too.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <string>
#include <utility>

namespace tenon::python {

namespace nb = nanobind;

enum class Raised { kInvalid, kArgument, kRange, kUnsupported, kEnvironment, kMemory, kLost, kBug };

/// Makes the classes, and has tenon::Error become them.
void add_errors(nb::module_& m);

[[noreturn]] void raise_text(Raised kind, const std::string& text);
template <class... A>
[[noreturn]] void raise(Raised kind, fmt::format_string<A...> text, A&&... arguments) {
  raise_text(kind, fmt::format(text, std::forward<A>(arguments)...));
}

}  // namespace tenon::python
