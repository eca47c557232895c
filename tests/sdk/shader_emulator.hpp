// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GLSL's words for the C++ compiler of the host. Included by the sources that shader_kernels.cpp
// writes, and by nothing else.
#pragma once

#include <stdint.h>
#include <string.h>

#include <bit>
#include <cmath>

#define precise

using uint = uint32_t;
struct Place {
  uint x, y, z;
};
static Place gl_WorkGroupID, gl_LocalInvocationID;
constexpr Place gl_NumWorkGroups = {1, 1, 1};

inline uint floatBitsToUint(float x) { return std::bit_cast<uint>(x); }
inline int floatBitsToInt(float x) { return std::bit_cast<int>(x); }
inline float uintBitsToFloat(uint x) { return std::bit_cast<float>(x); }
inline uint64_t doubleBitsToUint64(double x) { return std::bit_cast<uint64_t>(x); }
inline double uint64BitsToDouble(uint64_t x) { return std::bit_cast<double>(x); }
struct uvec2 {
  uint x, y;
  uvec2(uint low, uint high) : x(low), y(high) {}
};
inline double packDouble2x32(uvec2 words) {
  return std::bit_cast<double>(static_cast<uint64_t>(words.y) << 32 | words.x);
}
template <class T>
struct Vector4 {
  T lanes[4];
  Vector4() = default;
  Vector4(T x, T y, T z, T w) : lanes{x, y, z, w} {}
  T operator[](int k) const { return lanes[k]; }
};
using vec4 = Vector4<float>;
using ivec4 = Vector4<int>;
using uvec4 = Vector4<uint>;
inline int findMSB(uint x) { return 31 - std::countl_zero(x); }

template <class T>
T mix(T x, T y, bool second) {
  return second ? y : x;
}
template <class T>
T min(T x, T y) {
  return y < x ? y : x;
}
template <class T>
T max(T x, T y) {
  return x < y ? y : x;
}
template <class T>
T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
template <class T>
T roundEven(T x) {
  return std::nearbyint(x);
}
using std::abs;
using std::floor;
using std::fma;
using std::sqrt;
using std::trunc;

// ---- Cooperative matrices: every thread has all elements ----

template <int kDtype, class Bits>
float element_of(Bits bits) {
  if constexpr (kDtype == 16) return std::bit_cast<_Float16>(bits);           // f16
  if constexpr (kDtype == 17) return std::bit_cast<float>(uint(bits) << 16);  // bf16
  return bits;
}
template <int kDtype, int kRows, int kColumns>
struct Matrix {
  static constexpr int rows = kRows, columns = kColumns;
  float at[kRows][kColumns];
  template <class Visit>
  static Matrix each(Visit visit) {
    Matrix out;
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kColumns; ++c) out.at[r][c] = visit(r, c);
    return out;
  }
};
inline int place(uint order, int stride, int r, int c) {
  return order ? c * stride + r : r * stride + c;
}
/// By the number of the instruction in SPIR-V.
template <int kInstruction, class T>
struct Instruction;
template <class T>
struct Instruction<80, T> {
  static T run(float element) {
    return T::each([&](int, int) { return element; });
  }
};
template <int kDtype, int kRows, int kColumns>
struct Instruction<4457, Matrix<kDtype, kRows, kColumns>> {
  template <class Bits>
  static auto run(const Bits& from, uint order, int stride, int, uint) {
    return Matrix<kDtype, kRows, kColumns>::each(
        [&](int r, int c) { return element_of<kDtype>((&from)[place(order, stride, r, c)]); });
  }
};
template <>
struct Instruction<4458, void> {
  template <class Bits, class T>
  static void run(Bits& to, const T& x, uint order, int stride, int, uint) {
    T::each([&](int r, int c) { return (&to)[place(order, stride, r, c)] = x.at[r][c]; });
  }
};
template <class T>
struct Instruction<4459, T> {
  template <class A, class B>
  static T run(const A& a, const B& b, const T& sums, int) {
    return T::each([&](int r, int c) {
      float sum = sums.at[r][c];
      for (int k = 0; k < A::columns; ++k) sum += a.at[r][k] * b.at[k][c];
      return sum;
    });
  }
};
template <class T>
struct Instruction<133, T> {
  static T run(const T& x, const T& y) {
    return T::each([&](int r, int c) { return x.at[r][c] * y.at[r][c]; });
  }
};
