-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
-- Fits y = w x from LuaJIT. luajit fit.lua PATH/TO/libtenon_c.so
local ffi = require("ffi")
ffi.cdef [[
  typedef struct tenon_context tenon_context; typedef struct tenon_tensor tenon_tensor;
  typedef struct tenon_graph tenon_graph; const char* tenon_last_error(void);
  int tenon_context_create(const void* options, tenon_context** out);
  int tenon_graph_parse(tenon_context*, const char* text, const char* origin, tenon_graph** out);
  int tenon_graph_gradient(tenon_graph*, const char* output, const char** inputs, uint64_t count, tenon_graph** out);
  int tenon_graph_run(tenon_graph*, tenon_tensor** inputs, uint64_t, const void*, tenon_tensor** outputs, uint64_t);
  int tenon_tensor_create(tenon_context*, uint32_t dtype, uint32_t rank, const int64_t* shape, const void* data,
                          uint64_t bytes, tenon_tensor** out);
  int tenon_tensor_read(tenon_tensor*, void* out, uint64_t bytes);
  void tenon_tensor_destroy(tenon_tensor*);
]]
local C = ffi.load(arg[1] or "libtenon_c.so.0")
local function check(status) if status ~= 0 then error(ffi.string(C.tenon_last_error())) end end
local function out(type, call, ...)
  local p, a, n = ffi.new(type .. "*[1]"), {...}, select("#", ...) + 1
  a[n] = p; check(call(unpack(a, 1, n))); return p[0]
end
local context = out("tenon_context", C.tenon_context_create, nil)
local function tensor(values) -- f32
  local data, shape = ffi.new("float[?]", #values, values), ffi.new("int64_t[1]", #values)
  return ffi.gc(out("tenon_tensor", C.tenon_tensor_create, context, 18, 1, shape, data, 4 * #values), C.tenon_tensor_destroy)
end
local loss = out("tenon_graph", C.tenon_graph_parse, context, [[
graph loss(%x: f32[n], %y: f32[n], %w: f32[1]) where 1 <= n <= 4096 {
  %v = expand %w : f32[n]  %p = mul %v, %x  %e = sub %p, %y  %s = mul %e, %e
  %loss = reduce.add %s, axes=[0]  return %loss
}]], "fit.lua")
local step = out("tenon_graph", C.tenon_graph_gradient, loss, nil, ffi.new("const char*[1]", {"w"}), 1)
local x, y, w = tensor {1, 2, 3, 4}, tensor {3, 6, 9, 12}, ffi.new("float[1]", 0)
local results, value = ffi.new("tenon_tensor*[2]"), ffi.new("float[1]")
for i = 1, 20 do
  check(C.tenon_graph_run(step, ffi.new("tenon_tensor*[3]", x, y, tensor {w[0]}), 3, nil, results, 2))
  check(C.tenon_tensor_read(results[1], value, 4)); w[0] = w[0] - 0.02 * value[0]
  for o = 0, 1 do C.tenon_tensor_destroy(results[o]) end
end
print(("w = %.4f"):format(w[0])) -- 3.0000
