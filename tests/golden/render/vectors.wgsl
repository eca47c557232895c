@group(0) @binding(0) var<storage, read_write> p_x: array<f32>;
@group(0) @binding(1) var<storage, read_write> p_i: array<i32>;
@group(0) @binding(2) var<storage, read_write> p_y: array<f32>;

@compute @workgroup_size(1, 1, 1)
fn kernel_vectors(@builtin(workgroup_id) grid: vec3<u32>, @builtin(local_invocation_id) block: vec3<u32>) {
  var v4: array<f32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v4[l] = p_x[l]; }
  var v5: array<i32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v5[l] = l; }
  var v6: array<i32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v6[l] = 5; }
  var v7: array<bool, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v7[l] = v5[l] < v6[l]; }
  var v8: array<i32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v8[l] = p_i[l]; }
  var v9: array<f32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v9[l] = -2.5f; }
  var v10: array<f32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { if (v7[l]) { v10[l] = p_x[v8[l]]; } else { v10[l] = v9[l]; } }
  var v11: array<f32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v11[l] = v4[l] + v10[l]; }
  var v12: array<f32, 8>;
  for (var l: i32 = 0; l < 8; l += 1) { v12[l] = select(v9[l], v11[l], v7[l]); }
  for (var l: i32 = 0; l < 8; l += 1) { if (v7[l]) { p_y[l] = v12[l]; } }
  var v14: f32;
  v14 = v12[0];
  v14 = v14 + v12[1];
  v14 = v14 + v12[2];
  v14 = v14 + v12[3];
  v14 = v14 + v12[4];
  v14 = v14 + v12[5];
  v14 = v14 + v12[6];
  v14 = v14 + v12[7];
  let v15: f32 = v12[6];
  var v16: array<f32, 2>;
  v16[0] = v14;
  v16[1] = v15;
  for (var l: i32 = 0; l < 2; l += 1) { p_y[8 + l] = v16[l]; }
  var v19: array<f32, 4>;
  for (var l: i32 = 0; l < 4; l += 1) { v19[l] = v14; }
  for (var l: i32 = 0; l < 4; l += 1) { p_y[12 + l] = v19[l]; }
}
