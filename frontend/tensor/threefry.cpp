// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/threefry.hpp"

#include <bit>

namespace tenon {
namespace {

constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
constexpr uint32_t kParity = 0x1BD11BDA;

/// `key(i, n)`: word i of the key plus n.
template <class Word, class Rotate, class Key, class Add, class Xor>
std::pair<Word, Word> rounds(Word x0, Word x1, const Key& key, const Add& add, const Xor& exclusive,
                             const Rotate& rotate) {
  x0 = add(x0, key(0, 0));
  x1 = add(x1, key(1, 0));
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int bits : kRotations[group % 2]) {
      x0 = add(x0, x1);
      x1 = exclusive(rotate(x1, bits), x0);
    }
    x0 = add(x0, key((group + 1) % 3, 0));
    x1 = add(x1, key((group + 2) % 3, group + 1));
  }
  return {x0, x1};
}

template <class Key>
std::pair<NodeRef, NodeRef> rounds(Builder& builder, NodeRef c0, NodeRef c1, const Key& key) {
  const Shape shape = c0->shape;
  const auto word = [&](int value) {
    return builder.constant(Scalar::of_int(DType::kU32, value), shape);
  };
  return rounds(
      std::move(c0), std::move(c1), key,
      [&](const NodeRef& a, const NodeRef& b) { return builder.binary(Op::ADD, a, b); },
      [&](const NodeRef& a, const NodeRef& b) { return builder.binary(Op::XOR, a, b); },
      [&](const NodeRef& x, int bits) {
        return builder.binary(Op::OR, builder.binary(Op::SHL, x, word(bits)),
                              builder.binary(Op::SHR, x, word(32 - bits)));
      });
}

}  // namespace

std::pair<NodeRef, NodeRef> threefry2x32(Builder& builder, NodeRef c0, NodeRef c1, uint32_t k0,
                                         uint32_t k1) {
  const uint32_t key[3] = {k0, k1, kParity ^ k0 ^ k1};
  const Shape shape = c0->shape;
  return rounds(builder, std::move(c0), std::move(c1), [&](uint32_t i, uint32_t plus) {
    return builder.constant(Scalar{DType::kU32, uint32_t{key[i] + plus}}, shape);
  });
}

std::pair<NodeRef, NodeRef> threefry2x32(Builder& builder, NodeRef c0, NodeRef c1,
                                         const NodeRef& k0, const NodeRef& k1) {
  const Shape shape = c0->shape;
  const auto word = [&](uint32_t value) {
    return builder.constant(Scalar{DType::kU32, value}, shape);
  };
  const NodeRef both = builder.binary(Op::XOR, k0, k1);
  const NodeRef key[3] = {k0, k1, builder.binary(Op::XOR, both, word(kParity))};
  return rounds(builder, std::move(c0), std::move(c1), [&](uint32_t i, uint32_t plus) {
    return plus == 0 ? key[i] : builder.binary(Op::ADD, key[i], word(plus));
  });
}

std::pair<uint32_t, uint32_t> threefry2x32(uint32_t c0, uint32_t c1, uint32_t k0, uint32_t k1) {
  const uint32_t key[3] = {k0, k1, kParity ^ k0 ^ k1};
  return rounds(
      c0, c1, [&](uint32_t i, uint32_t plus) { return key[i] + plus; },
      [](uint32_t a, uint32_t b) { return a + b; }, [](uint32_t a, uint32_t b) { return a ^ b; },
      [](uint32_t x, int bits) { return std::rotl(x, bits); });
}

}  // namespace tenon
