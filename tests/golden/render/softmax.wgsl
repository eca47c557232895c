fn tn_opaque(x: u32) -> u32 {
  return x | select(0u, 1u, arrayLength(&p_x) == 0u);
}

fn tn_exact(x: f32) -> f32 {
  return bitcast<f32>(tn_opaque(bitcast<u32>(x)));
}

fn tn_is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn tn_order(x: f32, nan: i32) -> i32 {
  let bits: i32 = bitcast<i32>(x);
  return select(bits ^ ((bits >> 31u) & 0x7fffffff), nan, (bits & 0x7fffffff) > 0x7f800000);
}

fn tn_max_f32(x: f32, y: f32) -> f32 {
  return select(y, x, tn_order(x, 0x7fffffff) >= tn_order(y, 0x7fffffff));
}

fn tn_scale(x: f32, n: i32) -> f32 {
  let first: i32 = n >> 1u;
  let step: f32 = x * bitcast<f32>(u32(first + 127) << 23u);
  let result: f32 = step * bitcast<f32>(u32(n - first + 127) << 23u);
  return result;
}

fn tn_exp2_part(r: f32) -> f32 {
  let high: f32 = 0.009618083f + r * (0.0013390863f + r * 0.00015453163f);
  let low: f32 = 0.6931472f + r * (0.2402265f + r * (0.05550357f + r * high));
  let result: f32 = 1.0f + r * low;
  return result;
}

fn tn_exp2_f32(x: f32) -> f32 {
  let t: f32 = clamp(x, -152.0f, 129.0f);
  let n: f32 = round(t);
  let r: f32 = t - n;
  return select(tn_scale(tn_exp2_part(r), i32(n)), x, tn_is_nan(x));
}

@group(0) @binding(0) var<storage, read_write> p_x: array<f32>;
@group(0) @binding(1) var<storage, read_write> p_y: array<f32>;
struct Scalars {
  p_n: i32,
}
@group(0) @binding(2) var<uniform> scalars: Scalars;

@compute @workgroup_size(1, 1, 1)
fn kernel_softmax(@builtin(workgroup_id) grid: vec3<u32>, @builtin(local_invocation_id) block: vec3<u32>) {
  let p_n: i32 = scalars.p_n;
  let v3: i32 = i32(grid.x);
  let v4: i32 = v3 * p_n;
  var v12: f32 = bitcast<f32>(tn_opaque(0xff800000u));
  for (var v11: i32 = 0; v11 < p_n; v11 += 1) {
    let v13: i32 = v4 + v11;
    let v14: f32 = p_x[v13];
    let v15: f32 = tn_max_f32(v12, v14);
    v12 = v15;
  }
  var v18: f32 = 0.0f;
  for (var v17: i32 = 0; v17 < p_n; v17 += 1) {
    let v19: i32 = v4 + v17;
    let v20: f32 = p_x[v19];
    let v22: f32 = tn_exact(fma(v12, (-1.0f), v20));
    let v23: f32 = v22 * 1.442695f;
    let v24: f32 = tn_exp2_f32(v23);
    p_y[v19] = v24;
    let v26: f32 = tn_exact(v18) + v24;
    v18 = v26;
  }
  let v28: f32 = 1.0f / v18;
  for (var v29: i32 = 0; v29 < p_n; v29 += 1) {
    let v30: i32 = v4 + v29;
    let v31: f32 = p_y[v30];
    let v32: f32 = v31 * v28;
    p_y[v30] = v32;
  }
}
