// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that learns with checkpoints and may be killed: train_learner FOLDER STEPS [KILL_AT].
// Prints the bits of the model at the end. KILL_AT: kills itself after that step, as kill -9 does.
#include "tests/train/learner.hpp"

#include <csignal>
#include <cstdio>

int main(int count, char** words) try {
  using namespace tenon;
  if (count < 3) return 2;
  const int64_t kill_at = count > 3 ? std::atoll(words[3]) : -1;
  test::Learner model(Key(1));
  data::Loader loader(test::learner_data(), {.batch = 5, .seed = 4});
  train::Options options{
      .steps = std::atoll(words[2]), .key = Key(7), .checkpoints = words[1], .checkpoint_every = 7};
  options.on_step = [&](const train::Report& report) {
    if (report.step == kill_at) std::raise(SIGKILL);
  };
  const train::Result result =
      train::fit(model, test::learner_optimizer(), loader, test::learner_loss, options);
  std::printf("%lld", static_cast<long long>(result.first_step));
  for (const uint32_t bits : test::bits_of(model)) std::printf(" %08x", bits);
  std::printf("\n");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_learner: %s\n", error.what());
  return 3;
}
