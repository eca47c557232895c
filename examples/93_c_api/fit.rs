// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits y = w x from Rust. rustc fit.rs -L FOLDER -l tenon_c
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
type Handle = *mut c_void;
extern "C" {
    fn tenon_last_error() -> *const c_char;
    fn tenon_context_create(options: *const c_void, out: *mut Handle) -> c_int;
    fn tenon_graph_parse(context: Handle, text: *const c_char, origin: *const c_char, out: *mut Handle) -> c_int;
    fn tenon_graph_gradient(graph: Handle, output: *const c_char, inputs: *const *const c_char, count: u64, out: *mut Handle) -> c_int;
    fn tenon_graph_run(graph: Handle, inputs: *const Handle, count: u64, options: *const c_void, outputs: *mut Handle, output_count: u64) -> c_int;
    fn tenon_tensor_create(context: Handle, dtype: u32, rank: u32, shape: *const i64, data: *const f32, bytes: u64, out: *mut Handle) -> c_int;
    fn tenon_tensor_read(tensor: Handle, out: *mut f32, bytes: u64) -> c_int;
    fn tenon_tensor_destroy(tensor: Handle);
}
fn check(status: c_int) {
    if status != 0 { panic!("{}", unsafe { CStr::from_ptr(tenon_last_error()) }.to_string_lossy()) }
}
fn made(call: impl FnOnce(*mut Handle) -> c_int) -> Handle { let mut out = null_mut(); check(call(&mut out)); out }
const LOSS: &str = "graph loss(%x: f32[n], %y: f32[n], %w: f32[1]) where 1 <= n <= 4096 {
  %v = expand %w : f32[n]  %p = mul %v, %x  %e = sub %p, %y  %s = mul %e, %e
  %loss = reduce.add %s, axes=[0]  return %loss\n}";
fn main() { unsafe {
    let context = made(|out| tenon_context_create(null(), out));
    let tensor = |values: &[f32]| made(|out| tenon_tensor_create(context, 18, 1, &(values.len() as i64), values.as_ptr(), 4 * values.len() as u64, out));
    let (text, by) = (CString::new(LOSS).unwrap(), CString::new("w").unwrap());
    let loss = made(|out| tenon_graph_parse(context, text.as_ptr(), null(), out));
    let step = made(|out| tenon_graph_gradient(loss, null(), &by.as_ptr(), 1, out));
    let (x, y, mut w) = (tensor(&[1.0, 2.0, 3.0, 4.0]), tensor(&[3.0, 6.0, 9.0, 12.0]), 0f32);
    for _ in 0..20 {
        let (mut results, mut slope, inputs) = ([null_mut(); 2], 0f32, [x, y, tensor(&[w])]);
        check(tenon_graph_run(step, inputs.as_ptr(), 3, null(), results.as_mut_ptr(), 2));
        check(tenon_tensor_read(results[1], &mut slope, 4)); w -= 0.02 * slope;
        for used in [inputs[2], results[0], results[1]] { tenon_tensor_destroy(used) }
    }
    println!("w = {:.4}", w); // 3.0000
} }
