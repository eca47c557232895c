// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of a loop tree as data with a text form: "split a0 12; bind a0.o grid.x; unroll a0.i".
// transforms.def says what there is.
//
// Any legal list on any kernel computes the same: integers exactly, floats but for the order in
// which a reduction combines them. Nothing but try_apply changes a tree that build_kernel made.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/tree/kernel.hpp"
#include "core/support/error.hpp"

namespace tenon {

enum class TransformKind : uint8_t {
#define TN_TRANSFORM(name, ...) k##name,
#include "core/kernel/transforms/transforms.def"
};

enum class TransformArgument : uint8_t {
  kNone,
  kAxis,              ///< that has a loop
  kFreeAxis,          ///< and is not bound
  kMoreAxes,          ///< as many more as there are
  kBuffer,            ///< "b0"
  kAt,                ///< the word "at"
  kPlace,             ///< "grid.x"
  kFactor,            ///< from 1 to 2^30
  kOptionalPad,       ///< "pad F", or nothing
  kOptionalInner,     ///< "inner K" of an axis that has a loop, or nothing
  kOptionalComputed,  ///< the word "computed", or nothing
  kOptionalLines,     ///< "lines", or nothing
  kOptionalSums,      ///< the word "sums", or nothing
  kOptionalAcross,    ///< "across F", or nothing
};

struct TransformInfo {
  TransformKind kind;
  std::string_view word, old_word;
  uint32_t weight;  ///< in random lists
  std::array<TransformArgument, 7> arguments;
};
std::span<const TransformInfo> all_transforms();
const TransformInfo& transform_info(TransformKind kind);
/// Null if there is none of this word, old or new.
const TransformInfo* find_transform(std::string_view word);

struct Transform {
  TransformKind kind = TransformKind::kSplit;
  std::vector<std::string> names;  ///< of its axes and buffers
  int64_t factor = 0;
  Bind bind = Bind::kLoop;  ///< its place
  bool computed = false;    ///< stage: of what is computed from the loads
  bool lines = false;       ///< stage: rows are cut into lines (KernelBuffer::lines)
  int64_t pad = 0;          ///< stage, chain: elements of room after each row
  bool sums = false;        ///< chain: the tile of a block holds sums as they are
  int64_t across = 0;       ///< tensorize: threads of a subgroup on block.x; 0: all
  bool operator==(const Transform&) const = default;
};
using TransformList = std::vector<Transform>;

std::string print(const TransformList& list);
/// Throws kInvalid with the column of the first mistake.
TransformList parse_transforms(std::string_view text);

/// Why a transform is not legal where it stands.
struct Refusal {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;  ///< "[transform] split a9 4: expected ..., got ..."
};

/// Nothing if it was applied; else the kernel is as it was.
[[nodiscard]] std::optional<Refusal> try_apply(Kernel& kernel, const Transform& transform);

/// Of lists from outside: throws the refusal of the first that is not legal.
void apply_transforms(Kernel& kernel, const TransformList& list);

/// A tree and the list that made it from the one that build_kernel gave.
struct Chosen {
  Kernel kernel;
  TransformList list;
};

/// As `tenon show --stage kernel` prints it: the list, then the tree.
std::string print(const Chosen& chosen);

}  // namespace tenon
