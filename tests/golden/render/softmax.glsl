#version 450

bool tn_is_nan(float x) {
  return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}

int tn_order(float x, int nan) {
  int bits = floatBitsToInt(x);
  return mix(bits ^ ((bits >> 31u) & 0x7fffffff), nan, (bits & 0x7fffffff) > 0x7f800000);
}

float tn_max_f32(float x, float y) {
  return mix(y, x, tn_order(x, 0x7fffffff) >= tn_order(y, 0x7fffffff));
}

float tn_scale(float x, int n) {
  int first = n >> 1u;
  precise float step = x * uintBitsToFloat(uint(first + 127) << 23u);
  precise float result = step * uintBitsToFloat(uint(n - first + 127) << 23u);
  return result;
}

float tn_exp2_part(float r) {
  precise float high = 0.009618083f + r * (0.0013390863f + r * 0.00015453163f);
  precise float low = 0.6931472f + r * (0.2402265f + r * (0.05550357f + r * high));
  precise float result = 1.0f + r * low;
  return result;
}

float tn_exp2_f32(float x) {
  precise float t = clamp(x, -152.0f, 129.0f);
  precise float n = roundEven(t);
  precise float r = t - n;
  return mix(tn_scale(tn_exp2_part(r), int(n)), x, tn_is_nan(x));
}

layout(local_size_x = 1, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) restrict readonly buffer Buffer0 { float p_x[]; };
layout(set = 0, binding = 1, std430) restrict buffer Buffer1 { float p_y[]; };
layout(push_constant, std430) uniform Scalars {
  layout(offset = 0) int p_n;
};

void main() {
  int v3 = int(gl_WorkGroupID.x);
  int v4 = v3 * p_n;
  float v12 = uintBitsToFloat(0xff800000u);
  for (int v11 = 0; v11 < p_n; v11 += 1) {
    int v13 = v4 + v11;
    float v14 = p_x[v13];
    float v15 = tn_max_f32(v12, v14);
    v12 = v15;
  }
  float v18 = 0.0;
  for (int v17 = 0; v17 < p_n; v17 += 1) {
    int v19 = v4 + v17;
    float v20 = p_x[v19];
    precise float v22 = fma(v12, (-1.0), v20);
    precise float v23 = v22 * 1.442695;
    float v24 = tn_exp2_f32(v23);
    p_y[v19] = v24;
    precise float v26 = v18 + v24;
    v18 = v26;
  }
  precise float v28 = 1.0 / v18;
  for (int v29 = 0; v29 < p_n; v29 += 1) {
    int v30 = v4 + v29;
    float v31 = p_y[v30];
    precise float v32 = v31 * v28;
    p_y[v30] = v32;
  }
}
