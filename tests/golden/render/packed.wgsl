fn tn_shr_i32(x: i32, y: i32) -> i32 {
  if (u32(y) >= u32(32u)) { return x >> 31u; }
  return x >> u32(y);
}

fn tn_encode(x: f32, shift: u32, rebias: u32, magic: f32, over: u32, nan: u32) -> u32 {
  let magnitude: u32 = bitcast<u32>(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return nan; }
  if (magnitude < rebias + 0x800000u) {
    return bitcast<u32>(bitcast<f32>(magnitude) + magic) - bitcast<u32>(magic);
  }
  let up: u32 = ((1u << (shift - 1u)) - 1u) + ((magnitude >> shift) & 1u);
  return min((magnitude - rebias + up) >> shift, over);
}

fn tn_encode_f16(x: f32) -> u32 {
  let sign: u32 = (bitcast<u32>(x) >> 16u) & 0x8000u;
  return sign | tn_encode(x, 13u, 0x38000000u, 0.5f, 0x7c00u, 0x7e00u);
}

@group(0) @binding(0) var<storage, read_write> p_x: array<f32>;
@group(0) @binding(1) var<storage, read_write> p_w: array<atomic<u32>>;
struct Scalars {
  p_flag: u32,
}
@group(0) @binding(2) var<uniform> scalars: Scalars;

fn exchange_p_w(i: i32, value: u32, compare: u32) -> u32 {
  var old: u32 = atomicLoad(&p_w[i]);
  while (old == compare) {
    let found = atomicCompareExchangeWeak(&p_w[i], compare, value);
    old = found.old_value;
    if (found.exchanged) { break; }
  }
  return old;
}

@compute @workgroup_size(64, 1, 1)
fn kernel_packed(@builtin(workgroup_id) grid: vec3<u32>, @builtin(local_invocation_id) block: vec3<u32>) {
  let p_flag: bool = (scalars.p_flag != 0u);
  let v3: i32 = i32(block.x);
  let v4: f32 = p_x[v3];
  let v5: u32 = tn_encode_f16(v4);
  let v6: u32 = v5;
  let v7: u32 = v6;
  let v9: i32 = tn_shr_i32(v3, 1);
  let v10: u32 = atomicLoad(&p_w[v9]);
  let v11: u32 = v7 - v10;
  let v12: u32 = select(v7, v11, p_flag);
  let v13: u32 = atomicAdd(&p_w[v9], v12);
  let v14: u32 = exchange_p_w(v3, v13, v12);
  workgroupBarrier();
  storageBarrier();
  atomicStore(&p_w[v3], v14);
}
