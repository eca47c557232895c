#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

uint tn_opaque(uint x) {
  return x | (gl_NumWorkGroups.x == 0u ? 1u : 0u);
}

float tn_exact(float x) {
  return uintBitsToFloat(tn_opaque(floatBitsToUint(x)));
}

bool tn_is_nan(float x) {
  return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}

uint tn_u32_of_f32(float x) {
  if (tn_is_nan(x) || x <= 0.0f) { return 0u; }
  if (x >= 4294967296.0f) { return 0xffffffffu; }
  return uint(tn_exact(x));
}

float tn_decode_f16(uint x) {
  uint code = x & 0x7fffu;
  uint sign = (x & 0x8000u) << 16u;
  precise float small = float(code) * 5.9604644775390625e-8f;
  if (code < 0x400u) { return uintBitsToFloat(sign | floatBitsToUint(small)); }
  uint special = mix(0x38000000u, 0x70000000u, code >= 0x7c00u);
  return uintBitsToFloat(sign | ((code << 13u) + special));
}

uint tn_encode(float x, uint shift, uint rebias, float magic, uint over, uint nan) {
  uint magnitude = floatBitsToUint(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return nan; }
  if (magnitude < rebias + 0x800000u) {
    return floatBitsToUint(uintBitsToFloat(magnitude) + magic) - floatBitsToUint(magic);
  }
  uint up = ((1u << (shift - 1u)) - 1u) + ((magnitude >> shift) & 1u);
  return min((magnitude - rebias + up) >> shift, over);
}

uint tn_encode_f16(float x) {
  uint sign = (floatBitsToUint(x) >> 16u) & 0x8000u;
  return sign | tn_encode(x, 13u, 0x38000000u, 0.5f, 0x7c00u, 0x7e00u);
}

layout(local_size_x = 4, local_size_y = 2, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer Buffer0 { uint8_t p_x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Buffer1 { uint8_t p_y[]; };
layout(push_constant, std430) uniform Scalars {
  layout(offset = 0) uint p_total;
};
shared uint8_t p_tile[8];

void main() {
  uint p_mine[3];
  double p_scratch[5];
  int v5 = int(gl_LocalInvocationID.x);
  int v6 = int(gl_LocalInvocationID.y);
  int v8 = v6 * 4;
  int v9 = v8 + v5;
  uint v10 = uint(p_x[v9]);
  p_tile[v9] = uint8_t(v10);
  barrier();
  int v15 = v9 * (-1);
  int v16 = 7 + v15;
  uint v17 = uint(p_tile[v16]);
  uint v18 = tn_encode_f16(float(v17));
  p_mine[0] = v18;
  uint v21 = p_mine[0];
  int v22 = ((int(v21) << 16u) >> 16u);
  uint v23 = (uint(v22) & 0xffffu);
  uint v24 = min(tn_u32_of_f32(tn_decode_f16(v23)), 255u);
  p_y[v9] = uint8_t(v24);
}
