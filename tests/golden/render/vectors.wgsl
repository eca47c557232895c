@group(0) @binding(0) var<storage, read_write> p_x: array<f32>;
@group(0) @binding(1) var<storage, read_write> p_i: array<i32>;
@group(0) @binding(2) var<storage, read_write> p_y: array<f32>;

@compute @workgroup_size(1, 1, 1)
fn kernel_vectors(@builtin(workgroup_id) grid: vec3<u32>, @builtin(local_invocation_id) block: vec3<u32>) {
  var v4: array<f32, 8>;
  v4[0] = p_x[0];
  v4[1] = p_x[1];
  v4[2] = p_x[2];
  v4[3] = p_x[3];
  v4[4] = p_x[4];
  v4[5] = p_x[5];
  v4[6] = p_x[6];
  v4[7] = p_x[7];
  var v5: array<i32, 8>;
  v5[0] = 0;
  v5[1] = 1;
  v5[2] = 2;
  v5[3] = 3;
  v5[4] = 4;
  v5[5] = 5;
  v5[6] = 6;
  v5[7] = 7;
  var v7: array<bool, 8>;
  v7[0] = v5[0] < 5;
  v7[1] = v5[1] < 5;
  v7[2] = v5[2] < 5;
  v7[3] = v5[3] < 5;
  v7[4] = v5[4] < 5;
  v7[5] = v5[5] < 5;
  v7[6] = v5[6] < 5;
  v7[7] = v5[7] < 5;
  var v8: array<i32, 8>;
  v8[0] = p_i[0];
  v8[1] = p_i[1];
  v8[2] = p_i[2];
  v8[3] = p_i[3];
  v8[4] = p_i[4];
  v8[5] = p_i[5];
  v8[6] = p_i[6];
  v8[7] = p_i[7];
  var v10: array<f32, 8>;
  if (v7[0]) { v10[0] = p_x[v8[0]]; } else { v10[0] = (-2.5f); }
  if (v7[1]) { v10[1] = p_x[v8[1]]; } else { v10[1] = (-2.5f); }
  if (v7[2]) { v10[2] = p_x[v8[2]]; } else { v10[2] = (-2.5f); }
  if (v7[3]) { v10[3] = p_x[v8[3]]; } else { v10[3] = (-2.5f); }
  if (v7[4]) { v10[4] = p_x[v8[4]]; } else { v10[4] = (-2.5f); }
  if (v7[5]) { v10[5] = p_x[v8[5]]; } else { v10[5] = (-2.5f); }
  if (v7[6]) { v10[6] = p_x[v8[6]]; } else { v10[6] = (-2.5f); }
  if (v7[7]) { v10[7] = p_x[v8[7]]; } else { v10[7] = (-2.5f); }
  var v11: array<f32, 8>;
  v11[0] = v4[0] + v10[0];
  v11[1] = v4[1] + v10[1];
  v11[2] = v4[2] + v10[2];
  v11[3] = v4[3] + v10[3];
  v11[4] = v4[4] + v10[4];
  v11[5] = v4[5] + v10[5];
  v11[6] = v4[6] + v10[6];
  v11[7] = v4[7] + v10[7];
  var v12: array<f32, 8>;
  v12[0] = select((-2.5f), v11[0], v7[0]);
  v12[1] = select((-2.5f), v11[1], v7[1]);
  v12[2] = select((-2.5f), v11[2], v7[2]);
  v12[3] = select((-2.5f), v11[3], v7[3]);
  v12[4] = select((-2.5f), v11[4], v7[4]);
  v12[5] = select((-2.5f), v11[5], v7[5]);
  v12[6] = select((-2.5f), v11[6], v7[6]);
  v12[7] = select((-2.5f), v11[7], v7[7]);
  if (v7[0]) { p_y[0] = v12[0]; }
  if (v7[1]) { p_y[1] = v12[1]; }
  if (v7[2]) { p_y[2] = v12[2]; }
  if (v7[3]) { p_y[3] = v12[3]; }
  if (v7[4]) { p_y[4] = v12[4]; }
  if (v7[5]) { p_y[5] = v12[5]; }
  if (v7[6]) { p_y[6] = v12[6]; }
  if (v7[7]) { p_y[7] = v12[7]; }
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
  p_y[8] = v16[0];
  p_y[9] = v16[1];
  var v19: array<f32, 4>;
  v19[0] = v14;
  v19[1] = v14;
  v19[2] = v14;
  v19[3] = v14;
  p_y[12] = v19[0];
  p_y[13] = v19[1];
  p_y[14] = v19[2];
  p_y[15] = v19[3];
}
