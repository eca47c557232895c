// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of choices that makes the structure of a case. Every decision of the generator is
// one draw below some bound; the draws are kept, so a case can be made again from an edited
// sequence, which is how it is shrunk (as Hypothesis does: MacIver and Donaldson, ECOOP 2020).
//
// Convention: the smaller a draw, the simpler the case. Lists of alternatives begin with the
// plainest, chances come out false at zero, and a sequence that ends early goes on with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/cases/random.hpp"

namespace tenon::conformance {

/// What a stretch of draws decides. The shrinker does without them in this order.
enum class Part : uint8_t {
  kOutput,
  kNode,  ///< of a graph, or a step of an API sequence
  kDimension,
  kLayout,
  kDType,
  kTransform,
  kOther,
};

/// Draws [begin, end) belong to one part. Stretches nest.
struct Stretch {
  Part part = Part::kOther;
  uint32_t begin = 0, end = 0;
};

class Choices : public Picks<Choices> {
 public:
  /// Fresh draws from a seed.
  explicit Choices(uint64_t seed) : random_(seed) {}
  /// The draws of before, each brought below its bound; zeros after the last one.
  explicit Choices(std::vector<uint64_t> replayed)
      : random_(0), replayed_(std::move(replayed)), replays_(true) {}

  uint64_t bits();                                    ///< 64 random bits: one draw
  uint64_t below(uint64_t n);                         ///< [0, n); 0 if n is 0
  int64_t between(int64_t minimum, int64_t maximum);  ///< both ends included; simplest: minimum
  bool chance(uint32_t percent) { return below(100) + percent >= 100; }
  double unit();  ///< [0, 1)

  const std::vector<uint64_t>& draws() const { return draws_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }

  /// Marks what is drawn during its life.
  class Scope {
   public:
    Scope(Choices& choices, Part part);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Choices& choices_;
    size_t stretch_;
  };

 private:
  Random random_;
  std::vector<uint64_t> replayed_;
  bool replays_ = false;
  std::vector<uint64_t> draws_;
  std::vector<Stretch> stretches_;
};

}  // namespace tenon::conformance
