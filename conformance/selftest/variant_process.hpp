// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// This program once more, with what it prints in files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::conformance::selftest {

class VariantProcess {
 public:
  /// Throws kEnvironment.
  VariantProcess(const std::vector<std::string>& arguments, const std::filesystem::path& out,
                 const std::filesystem::path& errors);
  ~VariantProcess();  ///< kills it
  VariantProcess(const VariantProcess&) = delete;
  VariantProcess& operator=(const VariantProcess&) = delete;

  bool ended();

 private:
  int pid_ = -1;
};

}  // namespace tenon::conformance::selftest
