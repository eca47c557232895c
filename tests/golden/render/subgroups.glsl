#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_ballot : require

int tn_order(float x, int nan) {
  int bits = floatBitsToInt(x);
  return mix(bits ^ ((bits >> 31u) & 0x7fffffff), nan, (bits & 0x7fffffff) > 0x7f800000);
}

float tn_max_f32(float x, float y) {
  return mix(y, x, tn_order(x, 0x7fffffff) >= tn_order(y, 0x7fffffff));
}

layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer Buffer0 { float p_x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Buffer1 { float p_y[]; };

void main() {
  int v2 = int(gl_LocalInvocationID.x);
  int v3 = int(gl_SubgroupInvocationID);
  float v4 = p_x[v2];
  int v6 = v3 ^ 1;
  float v7 = subgroupShuffle(v4, uint(v6));
  precise float v8;
  v8 = v7;
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 1u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 2u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 4u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 8u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 16u));
  float v9 = subgroupBroadcast(v4, 31u);
  precise float v10 = v8 + v9;
  p_y[v2] = v10;
}
