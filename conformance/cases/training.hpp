// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small models that learn: cases whose graph is one step of training (Case::steps).
#pragma once

#include <cstdint>
#include <string_view>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

/// A layer of perceptrons that learns by gradient descent with momentum, a convolution by Adam, an
/// attention over embeddings by gradient descent; and counters, which learn nothing: every bit of
/// theirs is the same on each device after any number of steps.
inline constexpr std::string_view kTrainingNames[] = {"perceptron", "convolution", "attention",
                                                      "counters"};

inline constexpr uint32_t kMostSteps = 1000000;  ///< of a case

/// `steps` steps of one of them, in f32, on 64 made-up examples in batches of 16; weights and
/// examples from the seed. Throws kInvalid for another name.
Case make_training(std::string_view name, uint64_t seed, uint32_t steps, Builder& builder);

}  // namespace tenon::conformance
