// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses and gradients that are not finite, and who made them.
#include <cstdlib>
#include <string_view>

#include "core/support/error.hpp"
#include "tenon/finite.hpp"
#include "tenon/train/fit.hpp"

namespace tenon::train::fields {

bool checks_nan() {
  const char* const set = std::getenv("TENON_CHECK_NAN");
  const std::string_view value = set ? set : "0";
  TN_REQUIRE(value == "0" || value == "1", "TENON_CHECK_NAN: expected 0 or 1, got '{}'", value);
  return value == "1";
}

Tensor all_finite(const nn::LossAndGradients& found, bool gradients) {
  Tensor out = all(isfinite(found.loss));
  if (!gradients) return out;
  for (const Tensor& gradient : found.gradients) out = out & all(isfinite(gradient));
  return out;
}

void blame(const nn::LossAndGradients& found, const std::vector<nn::Named>& model,
           const std::vector<nn::Named>& learned, const std::vector<Tensor>& batch) {
  std::vector<std::pair<std::string, Tensor>> inputs;
  for (const nn::Named& named : model) inputs.emplace_back(named.name, *named.tensor);
  for (size_t i = 0; i < batch.size(); ++i)
    inputs.emplace_back(fmt::format("part {} of the batch", i), batch[i]);
  std::vector<std::pair<std::string, Tensor>> results{{"the loss", found.loss}};
  for (size_t i = 0; i < learned.size(); ++i)
    results.emplace_back("the gradient of " + learned[i].name, found.gradients[i]);
  for (const auto& [name, result] : results) {
    const std::vector<NotFinite> faults = first_not_finite(result, inputs);
    if (faults.empty()) continue;
    std::string why = to_string(faults[0]);
    if (faults.size() > 1) why += "; before, " + to_string(faults[1]);
    fail(ErrorKind::kInvalid, "[train.fit] expected finite numbers, got {} in {}: {}",
         faults[0].is_nan ? "a NaN" : "an infinity", name, why);
  }
  fail(ErrorKind::kInvalid,
       "[train.fit] expected finite numbers, got others in a loss or a gradient, and none when the "
       "step was made again, op by op");
}

}  // namespace tenon::train::fields
