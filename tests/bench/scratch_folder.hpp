// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A new folder, gone with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/support/error.hpp"

namespace tenon::bench {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tenon_bench_XXXXXX").string();
    TN_REQUIRE(mkdtemp(name.data()), "[bench] expected to make a folder {}", name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tenon::bench
