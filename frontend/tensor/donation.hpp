// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of a call whose memory it may write results into. Internal to the library.
#pragma once

#include <string>
#include <vector>

#include "frontend/tensor/state.hpp"

namespace tenon {

class Donation {
 public:
  /// `inputs`, which outlive this, have values; `gives`: of each whether it is donated. Throws
  /// kInvalid for one that something else needs. `call` is for messages.
  Donation(Context& context, std::string call, const std::vector<Tensor>& inputs,
           std::vector<bool> gives);
  /// Of a run that failed half-way nobody reads what it wrote over.
  ~Donation() { spend(/*all=*/false); }
  Donation(const Donation&) = delete;
  Donation& operator=(const Donation&) = delete;

  /// The run is submitted: what was donated is spent.
  void complete() { spend(/*all=*/true); }

 private:
  void spend(bool all) noexcept;
  void separate(Context& context);
  void check(size_t i) const;

  std::string call_;
  const std::vector<Tensor>& inputs_;
  std::vector<bool> gives_;
};

}  // namespace tenon
