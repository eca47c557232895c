// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of a loop tree as data with a text form: "split a0 12; bind a0.o grid.x; unroll a0.i".
// transforms.def says what there is.
//
// A legal list does not change results, except for the order in which a reduction combines floats.
// Only try_apply changes a tree that build_kernel made.
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
/// The transform with this word; null if there is none.
const TransformInfo* find_transform(std::string_view word);

/// A buffer of a kernel and, if a loop reads it in several ways (staged_loads.hpp), which of these.
struct BufferWay {
  int buffer = 0;
  std::optional<int> way;
  bool operator==(const BufferWay&) const = default;
};

/// An axis is an index into Kernel::axes, or its name in text.
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
/// A transform with axes by name, before they are resolved in a kernel.
using WrittenTransform = TransformOf<std::string>;
using WrittenTransforms = std::vector<WrittenTransform>;

/// The kind of a transform of either form.
template <class T>
TransformKind kind_of(const T& transform) {
  return static_cast<TransformKind>(transform.index());
}

std::string print(const WrittenTransforms& list);
/// Of a list in text. A step copies the tree that the steps before it have made.
inline constexpr size_t kMostTransforms = 256;
/// Throws kInvalid with the column of the first mistake.
WrittenTransforms parse_transforms(std::string_view text);

/// Converts axes to names. `kernel` may have later transforms applied: axes keep their numbers.
WrittenTransforms written(const Kernel& kernel, const TransformList& list);
std::string print(const Kernel& kernel, const TransformList& list);

/// Why a transform is not legal where it stands.
struct Refusal {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;  ///< "[transform] split a9 4: expected ..., got ..."
};

/// Resolves names of axes; a refusal if an axis does not exist or has no loop.
std::variant<Transform, Refusal> resolve(Kernel& kernel, const WrittenTransform& transform);

/// Applies a transform. Returns a refusal, and leaves the kernel unchanged, if it is not legal. One
/// of these says of the whole tree: at most 2^31 iterations, or 16 times those that it began with.
[[nodiscard]] std::optional<Refusal> try_apply(Kernel& kernel, const Transform& transform);
[[nodiscard]] std::optional<Refusal> try_apply(Kernel& kernel, const WrittenTransform& transform);

/// Applies a list. Throws the refusal of the first transform that is not legal.
TransformList apply_transforms(Kernel& kernel, const WrittenTransforms& list);
void apply_transforms(Kernel& kernel, const TransformList& list);

/// A tree and the list that made it from the result of build_kernel.
struct Chosen {
  Kernel kernel;
  TransformList list;
};

/// The list alone: "split a0 12; unroll a0.i".
std::string list_text(const Chosen& chosen);
/// As `tenon show --stage kernel` prints it: the list, then the tree.
std::string print(const Chosen& chosen);

}  // namespace tenon
