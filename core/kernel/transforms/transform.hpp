// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of a loop tree as data with a text form: "split a0 12; bind a0.o grid.x; unroll a0.i".
//
// Any legal list on any kernel computes the same: integers exactly, floats but for the order in
// which a reduction combines them.
//
//   split A F          A becomes A.o around A.i of extent F; a tail is guarded
//   merge A B          directly nested loops become one, A_B
//   permute A B ...    directly nested loops take this order, outermost first
//   pad A F            the extent grows to a multiple of F; the new points are guarded
//   unroll A           replicated innermost through the loop's statements; of a reduce axis: one
//                      accumulator for each position, merged after the loop
//   vectorize A        the same as the lanes of a vector
//   bind A PLACE       grid.x, .y, .z or block.x, .y, .z
//   group R F          reduce axis R is split by F, R.i spread over the threads of a workgroup on
//                      block.x, or on block.y if another axis of the nest is on block.x
//   stage B at A       the tile of buffer B that one iteration of loop A reads is first copied into
//                      per-thread scratch, or shared memory if threads differ; copy axes: B.c0, ...
//   stage B at A pad F the same; F elements of room behind each row of the source, so that rows do
//                      not begin in one bank of the memory
//   keep R A           what the steps over R compute and the later loop A would compute again, once
//                      A stands for R, goes through per-thread scratch: R is the only axis of its
//                      reduction, neither is bound or padded yet; the same bits
//   tensorize M N K F  the loops M, N and the innermost reduce loop K of one sum of products are an
//                      m x n x k matrix atom that F threads on block.x do together. The sums go to
//                      a tile in shared memory, and what stood behind the reduction becomes loops
//                      over that tile: M.c, N.c. Unrolled loops between M and N make the tile
//                      wider. Loads come from whole matrices or, where M and N were unrolled
//                      before stage, from shared tiles whose fill is 0.
//   pipeline A F       parsed, refused by apply
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

enum class TransformKind : uint8_t {
  kSplit,
  kMerge,
  kPermute,
  kPad,
  kUnroll,
  kVectorize,
  kBind,
  kGroup,
  kStage,
  kKeep,
  kTensorize,
  kPipeline,
};

struct Transform {
  TransformKind kind = TransformKind::kSplit;
  std::vector<std::string> names;  ///< axes; kStage: buffer, axis; kKeep: R, A
  int64_t factor = 0;              ///< kSplit, kPad, kGroup, kTensorize; kStage: 0 without "pad"
  Bind bind = Bind::kLoop;         ///< kBind
  bool operator==(const Transform&) const = default;
};
using TransformList = std::vector<Transform>;

std::string print(const TransformList& list);
/// Throws kInvalid with the column of the first mistake.
TransformList parse_transforms(std::string_view text);

/// Throws kInvalid, naming the transform, if it is not legal on the kernel as it is then.
void apply_transform(Kernel& kernel, const Transform& transform);
void apply_transforms(Kernel& kernel, const TransformList& list);

}  // namespace tenon
