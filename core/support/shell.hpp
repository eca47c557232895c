// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command lines that can be copied and pasted.
#pragma once

#include <string>

namespace tenon {

/// In quotes if a shell would split or change it.
std::string shell_word(const std::string& word);

}  // namespace tenon
