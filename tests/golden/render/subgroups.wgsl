fn tn_order(x: f32, nan: i32) -> i32 {
  let bits: i32 = bitcast<i32>(x);
  return select(bits ^ ((bits >> 31u) & 0x7fffffff), nan, (bits & 0x7fffffff) > 0x7f800000);
}

fn tn_max_f32(x: f32, y: f32) -> f32 {
  return select(y, x, tn_order(x, 0x7fffffff) >= tn_order(y, 0x7fffffff));
}

@group(0) @binding(0) var<storage, read_write> p_x: array<f32>;
@group(0) @binding(1) var<storage, read_write> p_y: array<f32>;

@compute @workgroup_size(64, 1, 1)
fn kernel_subgroups(@builtin(workgroup_id) grid: vec3<u32>, @builtin(local_invocation_id) block: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  const subgroup = 32u;
  let v2: i32 = i32(block.x);
  let v3: i32 = i32((thread % subgroup));
  let v4: f32 = p_x[v2];
  let v6: i32 = v3 ^ 1;
  let v7: f32 = subgroupShuffle(v4, u32(v6));
  var v8: f32;
  v8 = v7;
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 1u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 2u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 4u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 8u));
  v8 = tn_max_f32(v8, subgroupShuffleXor(v8, 16u));
  let v9: f32 = subgroupBroadcast(v4, 31u);
  let v10: f32 = v8 + v9;
  p_y[v2] = v10;
}
