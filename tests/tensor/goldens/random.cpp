// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws against NumPy's of the same bits.
#include <catch2/catch_test_macros.hpp>

#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

Key key_of(const Call& call) { return Key(call.in.at(0)); }

const Function kRandom[] = {
    {"uniform",
     [](const Call& c) {
       return Tensors{uniform(key_of(c), c.integers("shape"), 0, 1, c.dtype())};
     }},
    {"randint",
     [](const Call& c) {
       return Tensors{
           randint(key_of(c), c.integers("shape"), c.integer("low"), c.integer("high"), c.dtype())};
     }},
    {"bernoulli",
     [](const Call& c) { return Tensors{bernoulli(key_of(c), c.integers("shape"), c.real("p"))}; }},
    {"dropout_mask",
     [](const Call& c) {
       return Tensors{dropout_mask(key_of(c), c.integers("shape"), c.real("rate"))};
     }},
    {"normal", [](const Call& c) { return Tensors{normal(key_of(c), c.integers("shape"))}; }, 16,
     16, true},
    {"exponential",
     [](const Call& c) { return Tensors{exponential(key_of(c), c.integers("shape"))}; }, 4, 4,
     false, /*signed_zero=*/false},
    {"permutation", [](const Call& c) { return Tensors{permutation(key_of(c), c.integer("n"))}; }},
    {"split_key",
     [](const Call& c) {
       const int64_t child = c.integer("child");
       return Tensors{key_of(c).split(child + 1).at(static_cast<size_t>(child)).words()};
     }},
};

TEST_CASE("random draws") { run_goldens("random", kRandom); }

}  // namespace
}  // namespace tenon::test
