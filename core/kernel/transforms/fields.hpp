// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterates over the fields of a transform, by transforms.def. Used to print, parse, resolve and
// draw transforms.
#pragma once

#include <type_traits>

#include "core/kernel/transforms/transform.hpp"

namespace tenon {

enum class FieldKind : uint8_t {
  kAxis,
  kFreeAxis,
  kAxes,
  kBuffer,
  kAt,
  kPlace,
  kFactor,
  kNumber,
  kInner,
  kWord,
};
template <FieldKind kind>
using FieldIs = std::integral_constant<FieldKind, kind>;

/// Calls `use(FieldIs<kind>, name, field...)` for each field, with the fields of all transforms
/// `t`.
template <template <class> class Name>
struct Fields;
#define TN_FIELD(kind, name) use(FieldIs<FieldKind::kind>(), #name, t.name...);
#define TN_AXIS(name) TN_FIELD(kAxis, name)
#define TN_FREE_AXIS(name) TN_FIELD(kFreeAxis, name)
#define TN_AXES(name) TN_FIELD(kAxes, name)
#define TN_BUFFER(name) TN_FIELD(kBuffer, name)
#define TN_AT(name) TN_FIELD(kAt, name)
#define TN_PLACE(name) TN_FIELD(kPlace, name)
#define TN_FACTOR(name) TN_FIELD(kFactor, name)
#define TN_NUMBER(name) TN_FIELD(kNumber, name)
#define TN_INNER(name) TN_FIELD(kInner, name)
#define TN_WORD(name) TN_FIELD(kWord, name)
#define TN_TRANSFORM(Name, word, weight, ...) \
  template <>                                 \
  struct Fields<transforms::Name> {           \
    template <class Use, class... T>          \
    static void each(Use&& use, T&... t) {    \
      __VA_ARGS__                             \
    }                                         \
  };
#include "core/kernel/transforms/transforms.def"
#undef TN_FIELD

/// The same for the transform that a variant holds.
template <class Variant, class Use>
void each_field(Variant& transform, Use&& use) {
  std::visit(
      [&]<template <class> class Name, class Axis>(Name<Axis>& t) { Fields<Name>::each(use, t); },
      transform);
}
template <class Variant, class Use>
void each_field(const Variant& transform, Use&& use) {
  std::visit([&]<template <class> class Name, class Axis>(
                 const Name<Axis>& t) { Fields<Name>::each(use, t); },
             transform);
}

/// Calls `use(FieldIs<kind>, from, to)` for each field of two transforms of one kind.
template <class From, class To, class Use>
void each_pair(const From& from, To& to, Use&& use) {
  std::visit(
      [&]<template <class> class Name, class Axis>(const Name<Axis>& f) {
        using Other = std::conditional_t<std::is_same_v<Axis, int>, std::string, int>;
        const auto two = [&](auto kind, std::string_view, const auto& a, auto& b) {
          use(kind, a, b);
        };
        Fields<Name>::each(two, f, std::get<Name<Other>>(to));
      },
      from);
}

/// A transform of the kind with default fields.
template <class Variant>
Variant make_transform(TransformKind kind) {
  Variant out;
  size_t index = 0;
  const auto one = [&]<class T>(std::type_identity<T>) {
    if (index++ == static_cast<size_t>(kind)) out = T();
  };
  [&]<class... T>(std::type_identity<std::variant<T...>>) {
    (one(std::type_identity<T>()), ...);
  }(std::type_identity<Variant>());
  return out;
}

}  // namespace tenon
