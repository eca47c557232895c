// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of a loop tree as data with a text form: "split a0 12; bind a0.o grid.x; unroll a0.i".
// transforms.def says what there is.
//
// Any legal list on any kernel computes the same: integers exactly, floats but for the order in
// which a reduction combines them. Nothing but try_apply changes a tree that build_kernel made.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/kernel/tree/kernel.hpp"
#include "core/support/error.hpp"

namespace tenon {

enum class TransformKind : uint8_t {
#define TN_TRANSFORM(name, ...) k##name,
#include "core/kernel/transforms/transforms.def"
};

struct TransformInfo {
  TransformKind kind;
  std::string_view word;
  uint32_t weight;  ///< in random lists
};
std::span<const TransformInfo> all_transforms();
const TransformInfo& transform_info(TransformKind kind);
/// Null if there is none of this word.
const TransformInfo* find_transform(std::string_view word);

/// A buffer of a kernel, or, where a loop reads it in several ways, one of these.
struct BufferWay {
  int buffer = 0;
  std::optional<int> way;
  bool operator==(const BufferWay&) const = default;
};

/// An axis is a number in a kernel's list of axes, or in text its name.
namespace transforms {
#define TN_AXIS(name) Axis name{};
#define TN_FREE_AXIS(name) Axis name{};
#define TN_AXES(name) std::vector<Axis> name{};
#define TN_BUFFER(name) BufferWay name{};
#define TN_AT(name) Axis name{};
#define TN_PLACE(name) tenon::Bind name{};
#define TN_FACTOR(name) int64_t name = 0;
#define TN_NUMBER(name) int64_t name = 0;
#define TN_INNER(name) std::optional<Axis> name{};
#define TN_WORD(name) bool name = false;
#define TN_TRANSFORM(Name, word, weight, ...)     \
  template <class Axis>                           \
  struct Name {                                   \
    __VA_ARGS__                                   \
    bool operator==(const Name&) const = default; \
  };
#include "core/kernel/transforms/transforms.def"
}  // namespace transforms

template <class, class... T>
struct VariantOf {
  using type = std::variant<T...>;
};
template <class Axis>
using TransformOf = typename VariantOf<void
#define TN_TRANSFORM(Name, ...) , transforms::Name<Axis>
#include "core/kernel/transforms/transforms.def"
                                       >::type;

using Transform = TransformOf<int>;
using TransformList = std::vector<Transform>;
/// As text has it, where no kernel says yet which axes there are.
using WrittenTransform = TransformOf<std::string>;
using WrittenTransforms = std::vector<WrittenTransform>;

/// Of either form.
template <class T>
TransformKind kind_of(const T& transform) {
  return static_cast<TransformKind>(transform.index());
}

std::string print(const WrittenTransforms& list);
/// Throws kInvalid with the column of the first mistake.
WrittenTransforms parse_transforms(std::string_view text);

/// By the names that the axes of a kernel have; it may be one that later transforms changed.
WrittenTransforms written(const Kernel& kernel, const TransformList& list);
std::string print(const Kernel& kernel, const TransformList& list);

/// Why a transform is not legal where it stands.
struct Refusal {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;  ///< "[transform] split a9 4: expected ..., got ..."
};

/// The axes of the names, or that one is missing.
std::variant<Transform, Refusal> resolve(Kernel& kernel, const WrittenTransform& transform);

/// Nothing if it was applied; else the kernel is as it was.
[[nodiscard]] std::optional<Refusal> try_apply(Kernel& kernel, const Transform& transform);
[[nodiscard]] std::optional<Refusal> try_apply(Kernel& kernel, const WrittenTransform& transform);

/// Of lists from outside: throws the refusal of the first that is not legal.
TransformList apply_transforms(Kernel& kernel, const WrittenTransforms& list);
void apply_transforms(Kernel& kernel, const TransformList& list);

/// A tree and the list that made it from the one that build_kernel gave.
struct Chosen {
  Kernel kernel;
  TransformList list;
};

/// The list alone: "split a0 12; unroll a0.i".
std::string list_text(const Chosen& chosen);
/// As `tenon show --stage kernel` prints it: the list, then the tree.
std::string print(const Chosen& chosen);

}  // namespace tenon
