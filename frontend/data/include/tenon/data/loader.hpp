// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches of a dataset, made by threads ahead of who uses them and already on the device.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/context.hpp"
#include "tenon/data/dataset.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::data {

struct LoaderOptions {
  int64_t batch = 32;
  bool shuffle = true;
  bool drop_last = true;  ///< else the last batch of an epoch has what is left
  uint64_t seed = 0;      ///< of the order and of what transforms draw
  int threads = 2;
  int prefetch = 4;  ///< batches that are made or ready at most
};

/// Where a loader stands: two numbers to keep in a checkpoint.
struct Position {
  int64_t epoch = 0;
  int64_t batch = 0;
  bool operator==(const Position&) const = default;
};

/// The numbers 0, 1, .. size - 1 in an order that (seed, epoch) tells.
TENON_API std::vector<int64_t> shuffled(int64_t size, uint64_t seed, uint64_t epoch);

/// Goes through a dataset epoch after epoch, each in an order of its own. Batches are the same for
/// any number of threads, and for a loader that begins at a position that another had reached.
/// next(), position() and seek() are for one thread. The context must live as long as the loader.
/// A child made by fork has none of its threads: all but batches() throws kInvalid there.
class TENON_API Loader {
 public:
  /// Throws kInvalid for an empty dataset and for options and positions that mean nothing.
  Loader(Dataset dataset, const LoaderOptions& options, Context& context = Context::standard(),
         Position begin = {});
  /// Waits for the examples that are being made; no others are begun.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  int64_t batches() const;    ///< in an epoch
  Position position() const;  ///< of the batch that next() gives
  /// Goes on at that position; batches that were made ahead are dropped. Throws as the constructor.
  void seek(Position to);
  /// The parts of the examples, stacked along a new first axis. What an example threw, or examples
  /// that do not stack, is an Error with the number of the example; asked again it is thrown again.
  std::vector<Tensor> next();
  /// How long next() has waited for batches that were not ready, all in all.
  std::chrono::nanoseconds waited() const;

 private:
  struct State;
  State& here() const;  ///< throws in a child of the process that made it
  static int64_t number_of(const State& state, Position begin);
  static void begin_threads(State& state);
  static void end_threads(State& state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon::data
