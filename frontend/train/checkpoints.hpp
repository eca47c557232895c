// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder of checkpoints of one run, "step-00000120.safetensors": the newest, and the best.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tenon/formats/safetensors.hpp"

namespace tenon::train {

class Checkpoints {
 public:
  /// Finds what the folder holds; a file that is not whole is left out, with a warning.
  Checkpoints(std::filesystem::path folder, int64_t keep, int64_t keep_best);

  struct Newest {
    int64_t step = 0;
    std::string path;
  };
  std::optional<Newest> newest() const;
  /// Whether a checkpoint of this validation would be among the best.
  bool is_among_best(double validation) const;
  /// Writes by `save`, then removes those that are neither among the newest nor the best.
  void add(int64_t step, std::optional<double> validation,
           const std::function<void(const std::string& path)>& save);

 private:
  std::filesystem::path path_of(int64_t step) const;
  std::filesystem::path folder_;
  int64_t keep_, keep_best_;
  std::map<int64_t, std::optional<double>> validations_;  ///< of each step with a checkpoint
};

}  // namespace tenon::train
