// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the steps of a sequence on the plugin, and beside it on a model that knows every byte.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/abi/programs/runner.hpp"
#include "conformance/abi/sequences/lane.hpp"
#include "conformance/cases/abi/sequence.hpp"

namespace tenon::conformance::abi::sequences {

/// Of all memory of a sequence.
inline constexpr uint64_t kMostMemoryBytes = uint64_t{48} << 20;

class SequenceRunner {
 public:
  explicit SequenceRunner(const Subject& subject) : subject_(subject) {}
  ~SequenceRunner();

  /// Throws Finding or Lost. `alive` is called at each step.
  void run(const Sequence& sequence, const std::function<void()>& alive);
  /// Steps that did something.
  size_t done() const { return done_; }
  /// Why programs were left out: of the last one that goes on for too long, if there is any.
  const programs::LeftOut& left_out() const { return left_out_; }
  /// What ran last, for messages.
  std::string where() const;
  std::string_view verb() const;  ///< of the step that it is at

 private:
  /// One open device and its work.
  struct Seat {
    OpenDevice opened;
    Lane lane;
    Seat(const Subject& subject, uint32_t index, const char* options)
        : opened(subject, index, options), lane(opened) {}
  };
  struct LoadedSlot {
    Loaded loaded;
    size_t device = 0;
  };
  /// The numbers of a step; those that are not there are zero.
  struct Numbers {
    const std::vector<int64_t>& all;
    int64_t at(size_t i) const { return i < all.size() ? all[i] : 0; }
    uint64_t size(size_t i) const;               ///< not negative, and within bounds
    size_t slot(size_t i, int64_t slots) const;  ///< modulo
  };
  using Step = bool (SequenceRunner::*)(const Numbers&);  ///< false: nothing was possible
  static const std::vector<std::pair<std::string, Step>>& steps();
  bool run_step(const SequenceStep& step);

  bool device(const Numbers&);
  bool allocate(const Numbers&);
  bool import(const Numbers&);
  bool free(const Numbers&);
  bool write(const Numbers&);
  bool read(const Numbers&);
  bool map(const Numbers&);
  bool unmap(const Numbers&);
  bool fill(const Numbers&);
  bool copy(const Numbers&);
  bool compile(const std::string& kind, const Numbers&);
  bool destroy(const Numbers&);
  bool reload(const Numbers&);
  bool damage(const Numbers&);
  bool launch(const Numbers&);
  bool submit(const Numbers&);
  bool raise(const Numbers&);
  bool peek(const Numbers&);
  bool await(const Numbers&);
  bool timeline(const Numbers&);
  bool race_compile(const Numbers&);
  bool race_submit(const Numbers&);
  bool race_wait(const Numbers&);
  bool huge(const Numbers&);
  bool end(const Numbers&);

  Seat& seat(size_t slot);  ///< device 0 where the slot is empty
  Seat* seat_of(const Numbers& numbers, size_t i);
  bool is_mapped(const Access& access) const;
  /// Commands run after the open batch of their device; those of one batch in order.
  bool add(size_t device, const tn_command& command, std::vector<Access> accesses);
  void flush(size_t device);
  /// The host is about to use a range of a slab.
  void settle(const Access& access);
  void drop_slab(size_t slot);
  void drop_executable(size_t slot);
  void tear_down(uint64_t seed);

  const Subject& subject_;
  std::vector<std::unique_ptr<Seat>> seats_{static_cast<size_t>(kDeviceSlots)};
  std::vector<std::optional<Slab>> slabs_{static_cast<size_t>(kSlabSlots)};
  std::vector<std::optional<LoadedSlot>> executables_{static_cast<size_t>(kExecutableSlots)};
  std::vector<Batch> batches_{static_cast<size_t>(kDeviceSlots)};
  std::vector<SubmitRequest> requests_{static_cast<size_t>(kDeviceSlots)};
  uint64_t bytes_ = 0;  ///< of all slabs
  size_t step_ = 0, done_ = 0;
  uint64_t end_seed_ = 0;
  std::string text_;  ///< of the step
  programs::LeftOut left_out_;
};

}  // namespace tenon::conformance::abi::sequences
