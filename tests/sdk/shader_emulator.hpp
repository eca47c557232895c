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
